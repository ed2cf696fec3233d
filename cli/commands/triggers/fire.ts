import type { Fired } from "../../../src/contract/trigger.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/triggers.ts";
import { oneLine } from "../../text.ts";

export const fire: Handler<typeof table.fire> = async (context, { args, flags }) => {
  const text = await readTextFlag(context, flags.text);
  const { id } = await context.project();
  const api = await context.api();
  const fired = await api.call<Fired>({
    path: path`/projects/${id}/triggers/${args.slug}/fire`,
    body: text === undefined ? {} : { text },
    slow: true,
  });
  const session = oneLine(fired.session_id.slice(0, 8));
  const what = fired.status === "fired" ? "is starting" : "waits for a free slot of the account";
  await context.out.result(fired, () => `Session ${session} ${what}.\n`);
  if (fired.status === "waiting")
    await context.out.note("To free a slot:\n      svc sessions ls\n      svc sessions stop <id>");
  else await context.out.note(`Next: svc sessions info ${session}\n      svc sessions chat ${session}`);
};

/** @throws CliError `usage` for an empty text. */
async function readTextFlag(context: Context, given: string | undefined): Promise<string | undefined> {
  const text = given === "-" ? await readText(context, "-", "--text") : given;
  if (text?.trim() === "") throw usage("--text: the text is empty.");
  return text;
}
