import type { AuditEvent } from "../../src/contract/audit.ts";
import { ownAccount } from "../account.ts";
import { path } from "../api.ts";
import type { Handler } from "../spec.ts";
import type * as table from "../table/audit.ts";
import { ago, type Column, table as tableOf } from "../table-print.ts";
import { periodOf } from "../time-flag.ts";

const LIMIT = 50;

export const audit: Handler<typeof table.auditSpec> = async (context, { flags }) => {
  const { api, account } = await ownAccount(context, flags.account);
  const query = {
    actor: flags.actor,
    action: flags.action,
    target: flags.target,
    ...periodOf(flags),
  };
  const at = path`/accounts/${account.account_id}/audit`;
  const found = await api.list<AuditEvent>({ path: at, query }, "audit_events", flags.limit ?? LIMIT);
  await context.out.result(found, (view) => (found.length === 0 ? "" : tableOf(found, COLUMNS, view)));
  if (found.length === 0) await context.out.note("No entries.");
};

const COLUMNS: readonly Column<AuditEvent>[] = [
  {
    title: "CREATED",
    value: ({ created_at }) => created_at,
    shown: ({ created_at }, { now }) => ago(created_at, now),
  },
  { title: "ACTION", value: ({ action }) => action, paint: (_, view) => view.paint.cyan },
  { title: "BY", value: actorText, flexible: true },
  { title: "TARGET", value: ({ target }) => target, flexible: true },
  { title: "ADDRESS", value: ({ address }) => address ?? "" },
];

function actorText({ actor }: AuditEvent): string {
  if (actor === null) return "";
  if (actor.kind === "agent") return `agent of ${actor.email}`;
  return actor.kind === "token" ? `${actor.token_name} of ${actor.email}` : actor.email;
}
