import type { ProjectToken, UserToken } from "../../../src/contract/account.ts";
import { path } from "../../api.ts";
import { findById } from "../../by-id.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/tokens.ts";
import { oneLine } from "../../text.ts";
import { tokensPath } from "./at.ts";

export const revoke: Handler<typeof table.revoke> = async (context, { args, flags }) => {
  const at = await tokensPath(context, flags["for-project"]);
  const api = await context.api();
  const all = await api.list<UserToken | ProjectToken>({ path: at }, "tokens");
  const { token_id, name } = findById(all, (each) => each.token_id, args.token, {
    noun: "token",
    hint: `List them with: svc tokens ls${flags["for-project"] ? " --for-project" : ""}`,
  });
  await api.call({ method: "DELETE", path: at + path`/${token_id}` });
  await context.out.result(
    { token_id, name, revoked: true },
    () => `Revoked the token ${token_id.slice(0, 8)}, ${oneLine(name)}.\n`,
  );
};
