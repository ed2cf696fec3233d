import type { ProjectToken, UserToken } from "../../../src/contract/account.ts";
import { path } from "../../api.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/tokens.ts";
import { oneLine } from "../../text.ts";
import { tokensPath } from "./at.ts";

export const revoke: Handler<typeof table.revoke> = async (context, { args, flags }) => {
  const at = await tokensPath(context, flags["for-project"]);
  const api = await context.api();
  const all = await api.list<UserToken | ProjectToken>({ path: at }, "tokens");
  const { token_id, name } = find(all, args.token, flags["for-project"]);
  await api.call({ method: "DELETE", path: at + path`/${token_id}` });
  await context.out.result(
    { token_id, name, revoked: true },
    () => `Revoked the token ${token_id.slice(0, 8)}, ${oneLine(name)}.\n`,
  );
};

/** The token whose id begins with a text. @throws CliError `not_found` for none, or several */
function find<T extends UserToken>(tokens: readonly T[], wanted: string, ofProject: boolean): T {
  const found = tokens.filter(({ token_id }) => wanted !== "" && token_id.startsWith(wanted.toLowerCase()));
  const [first, second] = found;
  if (first !== undefined && second === undefined) return first;
  const shown = oneLine(wanted.slice(0, 80));
  const why = first === undefined ? `There is no token "${shown}".` : `Several ids begin with "${shown}".`;
  throw new CliError("not_found", why, {
    hint: `List them with: svc tokens ls${ofProject ? " --for-project" : ""}`,
  });
}
