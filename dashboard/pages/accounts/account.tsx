import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Account as AccountType } from "../../../src/contract/account.ts";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import { ME, useMe } from "../../api/accounts.ts";
import { call } from "../../api/call.ts";
import { byField } from "../../api/failure.ts";
import { path } from "../../api/path.ts";
import { Button, LinkButton } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Saved } from "../../parts/saved.tsx";
import { Section } from "../../parts/section.tsx";
import { visibleText } from "../../parts/visible.tsx";
import { Invitations } from "./invitations.tsx";
import { Members } from "./members.tsx";

/** An account: its members, invitations and name. */
export function Account({ accountId }: { accountId: string }) {
  const { data: me, error: meError } = useMe();
  const account = useQuery({
    queryKey: ["accounts", accountId],
    queryFn: ({ signal }) => call<AccountType>("GET", path`/accounts/${accountId}`, { signal }),
  });
  const error = account.error ?? meError;
  if (error && !account.data) {
    return (
      <div className="py-6">
        <Failure error={error} retry={() => void account.refetch()} />
      </div>
    );
  }
  if (!account.data || !me) return <Loading />;
  const role = me.accounts.find(({ account_id }) => account_id === account.data.account_id)?.role;
  const mayManage = role === "owner" || role === "admin";
  return (
    <Page
      title={account.data.name}
      actions={me.accounts.length > 1 && <OtherAccounts accounts={me.accounts} current={accountId} />}
    >
      <div className="max-w-5xl">
        <Members accountId={accountId} reader={me.user_id} role={role ?? "member"} />
        {mayManage && <Invitations accountId={accountId} isOwner={role === "owner"} />}
        {mayManage && <Name key={account.data.name} account={account.data} />}
      </div>
    </Page>
  );
}

function OtherAccounts({
  accounts,
  current,
}: {
  accounts: { account_id: string; name: string }[];
  current: string;
}) {
  return accounts
    .filter(({ account_id }) => account_id !== current)
    .map(({ account_id, name }) => (
      <LinkButton key={account_id} to={path`/accounts/${account_id}`}>
        {visibleText(name)}
      </LinkButton>
    ));
}

function Name({ account }: { account: AccountType }) {
  const [name, setName] = useState(account.name);
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: () => call("PATCH", path`/accounts/${account.account_id}`, { body: { name } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["accounts"] });
      await queries.invalidateQueries({ queryKey: ME });
    },
  });
  const errors = byField(save.error, ["name"]);
  const isChanged = name !== account.name;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged) save.mutate();
  };
  return (
    <Section title="Account name">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="Name"
          required
          maxLength={NAME_MAX}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={errors.of("name")}
        />
        <Failure error={errors.rest} />
        <div className="flex items-center gap-3">
          <Button type="submit" busy={save.isPending} disabled={!isChanged}>
            Rename
          </Button>
          <Saved when={save.isSuccess && !isChanged} />
        </div>
      </form>
    </Section>
  );
}
