import type { SignIn } from "../../../src/contract/sign-in.ts";
import { path } from "../../api.ts";
import { findById } from "../../by-id.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sign-ins.ts";

export const end: Handler<typeof table.end> = async (context, { args }) => {
  const api = await context.api();
  const { sign_ins: all } = await api.call<{ sign_ins: SignIn[] }>({ path: "/accounts/sign-ins" });
  const { sign_in_id } = findById(all, (each) => each.sign_in_id, args["sign-in"], {
    noun: "sign-in",
    hint: "List them with: svc sign-ins ls",
  });
  await api.call({ method: "DELETE", path: path`/accounts/sign-ins/${sign_in_id}` });
  await context.out.result(
    { sign_in_id, ended: true },
    () => `Signed out the browser ${sign_in_id.slice(0, 8)}.\n`,
  );
};
