import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Invitation, MadeInvitation, Role } from "../../../src/contract/account.ts";
import { call } from "../../api/call.ts";
import { useList } from "../../api/list.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { Button } from "../../parts/button.tsx";
import { Command } from "../../parts/command.tsx";
import { Options, Select, TextField } from "../../parts/field.tsx";
import { Form, useForm } from "../../parts/form.tsx";
import { More } from "../../parts/more.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible, visibleText } from "../../parts/visible.tsx";
import { ROLE_NAMES, rolesToGive } from "./roles.ts";

/** One-time links for new members. svc sends no e-mail, so the inviting user passes the link on. */
export function Invitations({ accountId, isOwner }: { accountId: string; isOwner: boolean }) {
  const queryKey = ["accounts", accountId, "invitations"];
  const at = path`/accounts/${accountId}/invitations`;
  const [made, setMade] = useState<MadeInvitation | null>(null);
  const queries = useQueryClient();
  const list = useList<Invitation>(queryKey, at, "invitations");
  const changed = () => queries.invalidateQueries({ queryKey });
  const revoke = useMutation({
    mutationFn: (id: string) => call("DELETE", at + path`/${id}`),
    onSuccess: async (_, id) => {
      if (made?.invitation_id === id) setMade(null);
      await changed();
    },
  });
  return (
    <Section
      title="Invitations"
      about="svc sends no e-mail: it creates a link for one person, which you pass on."
    >
      <InvitationForm
        at={at}
        roles={rolesToGive(isOwner)}
        onMade={(invitation) => {
          setMade(invitation);
          void changed();
        }}
      />
      {made && (
        <div className="mt-4 flex flex-col gap-2 rounded-md border border-ok bg-ok-ground p-3">
          <p role="status" className="text-ok">
            Send this link{made.email ? " to " : ""}
            {made.email && <Visible>{made.email}</Visible>}. It is not shown again. It works once, until it
            expires.
          </p>
          <Command label="Copy the link">{made.url}</Command>
        </div>
      )}
      <div className="mt-4 empty:hidden">
        <Failure error={list.error ?? revoke.error} retry={() => void list.refetch()} />
      </div>
      {list.rows.length > 0 && (
        <ul className="mt-4 divide-y divide-line border-line border-t">
          {list.rows.map(({ invitation_id, email, role, expires_at }) => (
            <li
              key={invitation_id}
              className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3 last:pb-0"
            >
              <div className="min-w-0">
                <p className="font-medium">{email ? <Visible>{email}</Visible> : "Anyone with the link"}</p>
                <p className="text-muted text-sm">
                  {ROLE_NAMES[role]} · expires <Ago at={expires_at} />
                </p>
              </div>
              <Button
                look="danger"
                busy={revoke.isPending && revoke.variables === invitation_id}
                onClick={() => revoke.mutate(invitation_id)}
                aria-label={`Revoke the invitation of ${visibleText(email ?? "anyone with the link")}`}
              >
                Revoke
              </Button>
            </li>
          ))}
        </ul>
      )}
      <More list={list} />
    </Section>
  );
}

interface FormProps {
  at: string;
  roles: Role[];
  onMade: (invitation: MadeInvitation) => void;
}

function InvitationForm({ at, roles, onMade }: FormProps) {
  const form = useForm(
    { email: "", role: "member" },
    {
      send: ({ role, email }) =>
        call<MadeInvitation>("POST", at, { body: { role, ...(email.trim() && { email: email.trim() }) } }),
      onSuccess: (invitation, set) => {
        set({ email: "" });
        onMade(invitation);
      },
    },
  );
  return (
    <Form onSubmit={form.submit} className="flex flex-col gap-3">
      <div className="grid items-start gap-3 sm:grid-cols-[1fr_10rem]">
        <TextField
          label="E-mail"
          type="email"
          hint="Optional. Without it, anyone can use the link, once."
          {...form.field("email")}
        />
        <Select label="Role" {...form.field("role")}>
          <Options of={roles.map((role) => [role, ROLE_NAMES[role]])} />
        </Select>
      </div>
      <Failure error={form.rest} />
      <div>
        <Button type="submit" look="primary" busy={form.isPending}>
          Create an invitation
        </Button>
      </div>
    </Form>
  );
}
