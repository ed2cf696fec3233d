import type { ProjectToken, UserToken } from "../../../src/contract/account.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/tokens.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";
import { tokensPath, withPlace } from "./at.ts";

export const ls: Handler<typeof table.ls> = async (context, { flags }) => {
  const at = await tokensPath(context, flags["for-project"]);
  const api = await context.api();
  const tokens = (await api.list<UserToken | ProjectToken>({ path: at }, "tokens")).map(withPlace);
  await context.out.result(tokens, (view) => (tokens.length === 0 ? "" : tableOf(tokens, COLUMNS, view)));
  if (tokens.length === 0) {
    const flag = flags["for-project"] ? " --for-project" : "";
    await context.out.note(`No tokens yet. Next: svc tokens new <name>${flag}`);
  }
};

const COLUMNS: readonly Column<UserToken>[] = [
  {
    title: "ID",
    value: ({ token_id }) => token_id,
    shown: ({ token_id }) => token_id.slice(0, 8),
    paint: (_, view) => view.paint.cyan,
  },
  { title: "NAME", value: ({ name }) => name, flexible: true },
  { title: "SCOPES", value: ({ scopes }) => scopes.join(",") },
  {
    title: "LAST USED",
    value: ({ last_used_at }) => last_used_at ?? "",
    shown: ({ last_used_at }, { now }) => (last_used_at === null ? "never" : ago(last_used_at, now)),
  },
  {
    title: "EXPIRES",
    value: ({ expires_at }) => expires_at ?? "",
    shown: ({ expires_at }, { now }) => expiry(expires_at, now),
  },
];

function expiry(expiresAt: string | null, now: number): string {
  if (expiresAt === null) return "never";
  return Date.parse(expiresAt) <= now ? "expired" : expiresAt.slice(0, 10);
}
