import { useQueryClient } from "@tanstack/react-query";
import type { Account as AccountType, Me } from "../../../src/contract/account.ts";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import { ME, useMe } from "../../api/accounts.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { LinkButton } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Form, Save, useForm } from "../../parts/form.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Section } from "../../parts/section.tsx";
import { visibleText } from "../../parts/visible.tsx";
import { Invitations } from "./invitations.tsx";
import { Members } from "./members.tsx";

/** An account: its members, invitations and name. */
export function Account({ accountId }: { accountId: string }) {
  const { data: me, error: meError } = useMe();
  const account = useGet<AccountType>(["accounts", accountId], path`/accounts/${accountId}`);
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
      actions={
        <>
          <LinkButton to={path`/accounts/${accountId}/usage`}>Model usage</LinkButton>
          <OtherAccounts accounts={me.accounts} current={accountId} />
        </>
      }
    >
      <div className="max-w-5xl">
        <Members accountId={accountId} reader={me.user_id} role={role ?? "member"} />
        {mayManage && <Invitations accountId={accountId} isOwner={role === "owner"} />}
        {mayManage && <Name key={account.data.name} account={account.data} />}
      </div>
    </Page>
  );
}

function OtherAccounts({ accounts, current }: { accounts: Me["accounts"]; current: string }) {
  return accounts
    .filter(({ account_id }) => account_id !== current)
    .map(({ account_id, name }) => (
      <LinkButton key={account_id} to={path`/accounts/${account_id}`}>
        {visibleText(name)}
      </LinkButton>
    ));
}

function Name({ account }: { account: AccountType }) {
  const queries = useQueryClient();
  const form = useForm(
    { name: account.name },
    {
      send: (body) => call("PATCH", path`/accounts/${account.account_id}`, { body }),
      onSuccess: async () => {
        await queries.invalidateQueries({ queryKey: ["accounts"] });
        await queries.invalidateQueries({ queryKey: ME });
      },
    },
  );
  const isClean = form.values.name === account.name;
  return (
    <Section title="Account name">
      <Form onSubmit={() => !isClean && form.submit()}>
        <TextField label="Name" required maxLength={NAME_MAX} {...form.field("name")} />
        <Save form={form} verb="Rename" disabled={isClean} isClean={isClean} />
      </Form>
    </Section>
  );
}
