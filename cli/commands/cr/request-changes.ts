import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { RequestChangesBody } from "../../../src/contract/change-request-review.ts";
import { path } from "../../api.ts";
import { CliError, usage } from "../../failure.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-review.ts";
import { oneLine } from "../../text.ts";
import { type Found, findCr, readCr } from "./reference.ts";
import { outcome } from "./show-cr.ts";

export const requestChanges: Handler<typeof table.requestChanges> = async (context, { args, flags }) => {
  const { body, "body-file": file, undo, dismiss } = flags;
  const given = [body, file, undo || undefined, dismiss].filter((each) => each !== undefined);
  if (given.length !== 1)
    throw usage(
      given.length === 0
        ? "svc cr request-changes needs -b <text>: what has to change."
        : "Only one of --body, --body-file, --undo and --dismiss can be used.",
    );
  const found = await findCr(context, args.cr);
  const at = `${found.path}/request-changes`;
  if (undo) {
    const cr = await found.api.call<ChangeRequest>({ method: "DELETE", path: at });
    return await context.out.result(cr, (view) => outcome(cr, "request for changes withdrawn", view));
  }
  if (dismiss !== undefined) {
    const { user_id, name } = await requester(found, dismiss);
    const cr = await found.api.call<ChangeRequest>({ method: "DELETE", path: at + path`/${user_id}` });
    return await context.out.result(cr, (view) =>
      outcome(cr, `request for changes of ${oneLine(name)} dismissed`, view),
    );
  }
  const text = file === undefined ? body : await readText(context, file, "--body-file");
  const cr = await requestOfHead(found, text ?? "");
  await context.out.result(cr, (view) => outcome(cr, REQUESTED, view));
  await context.out.note(`To withdraw the request: svc cr request-changes ${cr.number} --undo`);
};

export const REQUESTED = "changes requested; it cannot be merged";

/** Requests changes on the current head commit. */
async function requestOfHead(found: Found, body: string): Promise<ChangeRequest> {
  const { head_commit_sha } = await readCr(found);
  const wanted: RequestChangesBody = { body, ...(head_commit_sha !== null && { head_commit_sha }) };
  const path = `${found.path}/request-changes`;
  return await found.api.call<ChangeRequest>({ method: "POST", path, body: wanted, slow: true });
}

/** Who has requested changes. @throws CliError `not_found` if nobody, or more than one person, has that name */
async function requester(found: Found, name: string): Promise<ChangeRequest["approvals"][number]> {
  const { approvals, number } = await readCr(found);
  const requests = approvals.filter(({ state }) => state === "changes_requested");
  const [one, ...others] = requests.filter((each) => each.user_id === name || each.name === name);
  if (one && others.length === 0) return one;
  const said = one ? "More than one person of this name has" : "No person of this name or id has";
  const names = requests.map((each) => `${oneLine(each.name)} (${each.user_id})`).join(", ");
  throw new CliError("not_found", `${said} requested changes on #${number}: ${oneLine(name)}`, {
    hint: names === "" ? "Nobody has requested changes." : `Changes are requested by ${names}.`,
  });
}
