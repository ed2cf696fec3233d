import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { path as at } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr.ts";
import { count } from "../../text.ts";
import { type Found, findCr, readReference } from "./reference.ts";
import { outcome } from "./show-cr.ts";

export const close: Handler<typeof table.close> = async (context, { args }) => {
  const { out } = context;
  const closed: ChangeRequest[] = [];
  const failed: { name: string; error: CliError }[] = [];
  for (const { api, collection, path } of await findAll(context, args.cr)) {
    try {
      closed.push(await api.call<ChangeRequest>({ method: "POST", path: `${path}/close` }));
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      failed.push({ name: path.slice(collection.length + 1), error });
    }
  }
  if (closed.length > 0) {
    await out.result(closed, (view) => closed.map((cr) => outcome(cr, "closed", view)).join(""));
    const reopen = closed.map(({ number }) => `svc cr reopen ${number}`);
    await out.note(`To reopen ${closed.length === 1 ? "it" : "them"}: ${reopen.join("; ")}`);
  }
  const [first] = failed;
  if (first === undefined) return;
  if (closed.length + failed.length === 1) throw first.error;
  const reasons = failed.map(({ name, error }) => `\n  ${name}: ${error.message}`).join("");
  const message = `${count(failed.length, "change request")} could not be closed:${reasons}`;
  throw new CliError(first.error, message, first.error.extra);
};

/** Each that is named, once; that of the current branch if none is. Nothing is sent if a name is not valid. */
async function findAll(context: Context, names: readonly string[]): Promise<Found[]> {
  const [first, ...more] = new Set(names.map(readReference));
  const found = await findCr(context, first);
  return [found, ...more.map((name) => ({ ...found, path: `${found.collection}${at`/${name}`}` }))];
}

export const reopen: Handler<typeof table.reopen> = async (context, { args }) => {
  const { api, path } = await findCr(context, args.cr, "closed");
  const cr = await api.call<ChangeRequest>({ method: "POST", path: `${path}/reopen`, slow: true });
  await context.out.result(cr, (view) => outcome(cr, "reopened", view));
};
