import type { CreateSessionBody, RuntimeOffer, Session } from "../../../src/contract/session.ts";
import type { CreateTriesBody, Tries } from "../../../src/contract/tries.ts";
import { type Api, path } from "../../api.ts";
import { attachedIn, readAttachments } from "../../attachments.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sessions.ts";
import { listOf, outcome, shortId } from "./show-session.ts";
import { shouldWait } from "./wait-flags.ts";
import { watch } from "./watch.ts";

export const create: Handler<typeof table.create> = async (context, { flags }) => {
  const { out } = context;
  const wait = shouldWait(flags);
  const prompt = await readPrompt(context, flags.prompt);
  if (prompt === undefined && flags.attach.length > 0) throw usage("--attach requires --prompt.");
  const files = await readAttachments(context, flags.attach);
  const { id: project } = await context.project();
  const api = await context.api();
  const collection = path`/projects/${project}/sessions`;
  const body: CreateSessionBody = { session_id: crypto.randomUUID() };
  if (flags.base !== undefined) body.base_ref = flags.base;
  if (flags.agent !== undefined) body.agent_name = flags.agent;
  if (prompt !== undefined) body.initial_prompt = prompt;
  if (files.length > 0) body.attachments = attachedIn(files);
  if (flags.name !== undefined) body.name = flags.name;
  if (flags.mode !== undefined) body.mode = flags.mode;
  if (flags.effort !== undefined) body.effort = flags.effort;
  if (flags.provider !== undefined) body.provider = flags.provider;
  const [models, runtimes] = [listIn(flags.model), listIn(flags.runtime)];
  const tries = flags.tries ?? Math.max(models.length, runtimes.length);
  if (tries > 1)
    return startTries(context, path`/projects/${project}/tries`, {
      ...body,
      ...(models.length > 0 && { models }),
      ...(runtimes.length > 0 && { runtimes }),
      count: tries,
    });
  const [[model], [runtime]] = [models, runtimes];
  if (model !== undefined) body.model = model;
  if (runtime !== undefined) body.runtime = runtime;
  const started = await start(api, collection, body);
  if (runtime !== undefined) await noteMissingKey(context, api, project, runtime);
  const found = { api, id: started.session_id, path: `${collection}${path`/${started.session_id}`}` };
  const id = shortId(started);
  if (!wait) {
    await out.result(started, (view) => outcome(started, "starting", view));
    return out.note(`Next: svc sessions info ${id}`);
  }
  await out.note(`Session ${id} is starting. Ctrl-C ends the wait, not the session.`);
  const session = await watch(context, found, started, "running");
  await out.result(session, (view) => outcome(session, "running", view));
  await out.note(`Next: svc sessions chat ${id}\n      svc sessions preview ${id}`);
};

/** Says at once that the agent has no key, which otherwise only its first answer does. */
async function noteMissingKey({ out }: Context, api: Api, project: string, runtime: string): Promise<void> {
  const { runtimes } = await api
    .call<{ runtimes: RuntimeOffer[] }>({ path: path`/projects/${project}/runtimes` })
    .catch(() => ({ runtimes: [] }));
  const offer = runtimes.find(({ name }) => name === runtime);
  const keys = offer?.missing_keys ?? [];
  if (!offer || keys.length === 0) return;
  await out.warn(
    `${offer.title} has no key, so it may not be able to answer. Set one of ${keys.join(", ")} with svc secrets set (--mine for your sessions only), or ask the operator for a model upstream of its format.`,
  );
}

/** Starts several sessions at one task, and does not wait for them. */
async function startTries(
  context: Context,
  collection: string,
  {
    session_id: tries_id,
    initial_prompt,
    ...fields
  }: CreateSessionBody & Pick<CreateTriesBody, "count" | "models" | "runtimes">,
): Promise<void> {
  if (initial_prompt === undefined) throw usage("Several tries require --prompt.");
  const body: CreateTriesBody = { ...fields, initial_prompt, ...(tries_id && { tries_id }) };
  const api = await context.api();
  const made = await api.call<Tries>({ path: collection, body, slow: true }).catch((error: unknown) => {
    throw withLimitHint(error);
  });
  const sessions = made.tries.map(({ session }) => session);
  await context.out.result(sessions, (view) => listOf(sessions, view));
  const [first] = sessions;
  if (first) await context.out.note(`Next: svc sessions tries ${shortId(first)}`);
}

/** The values of a flag that accepts several, separated by commas. */
function listIn(flag: string | undefined): string[] {
  return (flag ?? "").split(",").flatMap((each) => each.trim() || []);
}

/** @throws CliError `usage` for an empty prompt. */
async function readPrompt(context: Context, prompt: string | undefined): Promise<string | undefined> {
  const text = prompt === "-" ? await readText(context, "-", "--prompt") : prompt;
  if (text?.trim() === "") throw usage("--prompt: the prompt is empty.");
  return text;
}

/** The client chooses the id, so that the session is found even if the response is lost. */
export async function start(api: Api, collection: string, body: CreateSessionBody): Promise<Session> {
  try {
    return await api.call<Session>({ path: collection, body, slow: true });
  } catch (error) {
    if (!(error instanceof CliError) || !["network", "timeout"].includes(error.code))
      throw withLimitHint(error);
    const own = `${collection}${path`/${body.session_id ?? ""}`}`;
    return api.call<Session>({ path: own }).catch(() => {
      throw error;
    });
  }
}

/** Adds a hint to the error of the account's session limit. */
export function withLimitHint(error: unknown): unknown {
  if (!(error instanceof CliError) || error.code !== "concurrent_session_limit") return error;
  const { limit, active_sessions: active } = error.extra;
  const count = limit === undefined || active === undefined ? "" : `${active} of ${limit} slots are in use. `;
  const hint = `${count}To free a slot, in any project of the account:\n      svc sessions ls\n      svc sessions stop <id>`;
  return new CliError(error.code, error.message, { ...error.extra, hint });
}
