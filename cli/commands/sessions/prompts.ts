import type { Prompt } from "../../../src/contract/prompt.ts";
import { path } from "../../api.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-prompts.ts";
import { oneLine } from "../../text.ts";
import { type Found, findSession } from "./reference.ts";
import { listOfPrompts } from "./show-prompt.ts";

/** More than the server keeps. */
const MANY = 10_000;

export const prompts: Handler<typeof table.prompts> = async (context, { args, flags }) => {
  const found = await findSession(context, args.id);
  if (flags.withdraw !== undefined) {
    const id = await promptId(found, flags.withdraw);
    await found.api.call({ method: "DELETE", path: `${found.path}${path`/prompts/${id}`}` });
  }
  const list = await listed(found, flags.limit ?? MANY);
  await context.out.result(list, (view) => listOfPrompts(list, view));
  if (list.length === 0) await context.out.note("No prompts yet. Next: svc sessions prompt <id> <text>");
};

export const abort: Handler<typeof table.abort> = async (context, { args }) => {
  const found = await findSession(context, args.id);
  await found.api.call({ method: "POST", path: `${found.path}/abort`, slow: true });
  const done = { session_id: found.id, aborted: true };
  await context.out.result(done, ({ tty, paint }) => {
    const id = oneLine(tty ? found.id.slice(0, 8) : found.id);
    return `${paint.green(id)}: run aborted\n`;
  });
};

const listed = ({ api, path: session }: Found, limit: number): Promise<Prompt[]> =>
  api.list<Prompt>({ path: `${session}/prompts` }, "prompts", limit);

/** Resolves a prompt's number to its id. @throws CliError `not_found` */
async function promptId(found: Found, reference: string): Promise<string> {
  if (!/^#?\d{1,9}$/.test(reference)) return reference;
  const number = Number(reference.replace("#", ""));
  const one = (await listed(found, MANY)).find((each) => each.number === number);
  if (one) return one.prompt_id;
  throw new CliError("not_found", `The session has no prompt ${number}.`, {
    hint: "`svc sessions prompts` lists them.",
  });
}
