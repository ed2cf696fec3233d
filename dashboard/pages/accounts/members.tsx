import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import type { Member } from "../../../src/contract/account.ts";
import { ROLES, type Role } from "../../../src/contract/role.ts";
import { ME } from "../../api/accounts.ts";
import { call } from "../../api/call.ts";
import { useList } from "../../api/list.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Options } from "../../parts/field.tsx";
import { Loading } from "../../parts/loading.tsx";
import { More } from "../../parts/more.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible, visibleText } from "../../parts/visible.tsx";
import { ROLE_NAMES, ROLES_ABOUT, rolesToGive } from "./roles.ts";

interface Props {
  accountId: string;
  /** User id and role of the signed-in user. */
  reader: string;
  role: Role;
}

/** The members of an account. */
export function Members({ accountId, reader, role }: Props) {
  const queryKey = ["accounts", accountId, "members"];
  const at = path`/accounts/${accountId}/members`;
  const [removing, setRemoving] = useState<Member | null>(null);
  const queries = useQueryClient();
  const [, go] = useLocation();
  const list = useList<Member>(queryKey, at, "members");
  const change = useMutation({
    mutationFn: ({ member, to }: { member: Member; to: Role }) =>
      call("PATCH", at + path`/${member.user_id}`, { body: { role: to } }),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey });
      await queries.invalidateQueries({ queryKey: ME });
    },
  });
  const remove = useMutation({
    mutationFn: (member: Member) => call("DELETE", at + path`/${member.user_id}`),
    onSuccess: async (_, { user_id }) => {
      setRemoving(null);
      if (user_id === reader) {
        go("/");
        await queries.invalidateQueries();
      } else await queries.invalidateQueries({ queryKey });
    },
  });
  return (
    <Section title="Members" about={ROLES_ABOUT}>
      <Failure error={list.error} retry={() => void list.refetch()} />
      <Failure error={change.error} />
      {list.isPending && <Loading what="Loading the members" />}
      <ul className="divide-y divide-line">
        {list.rows.map((member) => (
          <Row
            key={member.user_id}
            member={member}
            isReader={member.user_id === reader}
            roles={rolesFor(member, role)}
            mayRemove={member.user_id === reader || rolesFor(member, role).length > 0}
            busy={change.isPending}
            onRole={(to) => change.mutate({ member, to })}
            onRemove={() => setRemoving(member)}
          />
        ))}
      </ul>
      <More list={list} />
      {removing && (
        <Confirm
          title={
            removing.user_id === reader ? "Leave the account?" : `Remove ${visibleText(nameOf(removing))}?`
          }
          verb={removing.user_id === reader ? "Leave the account" : "Remove the member"}
          action={remove}
          onConfirm={() => remove.mutate(removing)}
          onClose={() => {
            remove.reset();
            setRemoving(null);
          }}
        >
          <p>
            {removing.user_id === reader
              ? "You lose the account's projects, and your tokens for them stop working. Only a member can invite you again."
              : "They lose the account's projects, and their tokens for them stop working. What they created stays."}
          </p>
        </Confirm>
      )}
    </Section>
  );
}

/** The roles that a user with this role may give to a member; empty if they may not change the member. */
function rolesFor(member: Member, reader: Role): Role[] {
  if (reader === "owner") return [...ROLES];
  return reader === "admin" && member.role !== "owner" ? rolesToGive(false) : [];
}

interface RowProps {
  member: Member;
  isReader: boolean;
  roles: Role[];
  mayRemove: boolean;
  busy: boolean;
  onRole: (role: Role) => void;
  onRemove: () => void;
}

function Row({ member, isReader, roles, mayRemove, busy, onRole, onRemove }: RowProps) {
  const name = visibleText(nameOf(member));
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0 grow basis-60">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          <Visible>{nameOf(member)}</Visible>
          {isReader && <Badge look="info">You</Badge>}
        </p>
        <p className="text-muted text-sm">
          <Visible>{member.email}</Visible> · joined <Ago at={member.created_at} />
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        {roles.length > 0 ? (
          <select
            aria-label={`Role of ${name}`}
            className="min-h-9 rounded-md border border-edge bg-surface px-2 py-1 text-ink"
            value={member.role}
            disabled={busy}
            onChange={(event) => onRole(ROLES.find((role) => role === event.target.value) ?? member.role)}
          >
            <Options of={roles.map((role) => [role, ROLE_NAMES[role]])} />
          </select>
        ) : (
          <Badge look="neutral">{ROLE_NAMES[member.role]}</Badge>
        )}
        {mayRemove && (
          <Button look="danger" onClick={onRemove} aria-label={isReader ? "Leave" : `Remove ${name}`}>
            {isReader ? "Leave" : "Remove"}
          </Button>
        )}
      </div>
    </li>
  );
}

function nameOf({ name, email }: Member): string {
  return name.trim() || email;
}
