import type { CreateSessionBody, Session } from "../../../src/contract/session.ts";
import { type Api, path } from "../../api.ts";
import { readAttachments } from "../../attachments.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-prompts.ts";
import { oneLine } from "../../text.ts";
import { start, withLimitHint } from "./new.ts";
import { type Found, findSession } from "./reference.ts";
import { shortId } from "./show-session.ts";
import { failureText, watch } from "./watch.ts";

/** Running sessions that are searched, or offered as choices. */
const RUNNING = 200;
/** Candidates listed in an error. */
const NAMED = 10;

export const chat: Handler<typeof table.chat> = async (context, { args, flags }) => {
  if (flags.new && args.id !== undefined)
    throw usage("--new starts a session and cannot be used with an id.");
  const text = await readPrompt(context, flags.prompt);
  if (text === undefined && flags.attach.length > 0) throw usage("--attach requires --prompt.");
  const files = await readAttachments(context, flags.attach);
  if (text === undefined && !(context.canAsk() && context.system.stdout.isTTY)) {
    throw usage(
      "Interactive chat needs a terminal; use --prompt.",
      '`svc sessions chat <id> --prompt "..."`, or `--prompt -` for standard input.',
    );
  }
  const found = flags.new ? await startNew(context) : await find(context, args.id);
  const session = await awake(context, found, text === undefined);
  if (text !== undefined) {
    const { oneShot } = await import("../../chat/one-shot.ts");
    return oneShot(context, found, session, text, files);
  }
  const { repl } = await import("../../chat/repl.ts");
  return repl(context, found, session);
};

/** @throws CliError `usage` for an empty prompt. */
async function readPrompt(context: Context, prompt: string | undefined): Promise<string | undefined> {
  const text = prompt === "-" ? await readText(context, "-", "--prompt") : prompt;
  if (text?.trim() === "") throw usage("--prompt: the prompt is empty.");
  return text;
}

/** Starts a session, without waiting for it. */
async function startNew(context: Context): Promise<Found> {
  const { id: project } = await context.project();
  const api = await context.api();
  const collection = path`/projects/${project}/sessions`;
  const body: CreateSessionBody = { session_id: crypto.randomUUID() };
  const { session_id: id } = await start(api, collection, body);
  return { api, id, path: `${collection}${path`/${id}`}` };
}

/** @throws CliError `usage` for several running sessions without a terminal, and for a sandbox's own session. */
async function find(context: Context, reference: string | undefined): Promise<Found> {
  const own = context.sandbox ? context.system.env["SVC_SESSION_ID"] : undefined;
  const found = reference === undefined ? await running(context, own) : await findSession(context, reference);
  if (found.id !== own) return found;
  throw usage(
    "This is the sandbox of that session: a chat would wait for its own answer.",
    "`svc sessions ls` lists the others.",
  );
}

/** The running session. If there are several, it prompts. */
async function running(context: Context, own: string | undefined): Promise<Found> {
  const { id: project } = await context.project();
  const api = await context.api();
  const collection = path`/projects/${project}/sessions`;
  const all = await api.list<Session>(
    { path: collection, query: { status: "running" } },
    "sessions",
    RUNNING,
  );
  const others = all.filter(({ session_id }) => session_id !== own);
  const [one] = others;
  if (one === undefined) {
    throw new CliError("not_found", "The project has no running session.", {
      hint: "Start one with `svc sessions chat --new`, or name a stopped one: `svc sessions ls` lists them.",
    });
  }
  const id = others.length === 1 ? one.session_id : await choose(context, others);
  return { api, id, path: `${collection}${path`/${id}`}` };
}

async function choose(context: Context, sessions: readonly Session[]): Promise<string> {
  const words = (session: Session) => oneLine(`${session.session_id}  ${session.title ?? ""}`).trimEnd();
  if (!context.canAsk()) {
    throw usage(
      `${sessions.length} sessions are running. Name one by its id.`,
      sessions.slice(0, NAMED).map(words).join("\n      "),
    );
  }
  const { choose: ask } = await import("../../prompt.ts");
  return ask(
    "Chat with which session?",
    sessions.map((session) => ({
      value: session.session_id,
      label: `${shortId(session)} ${session.title ?? ""}`.trimEnd(),
      hint: session.base_ref,
    })),
  );
}

/**
 * The session once it runs: a stopped one is restarted, a starting one is waited for.
 * @param canAnswer whether a person can answer what a stopped one waits for
 */
async function awake(context: Context, found: Found, canAnswer: boolean): Promise<Session> {
  const session = await found.api.call<Session>({ path: found.path });
  // an answer starts it
  if (session.status === "running" || (canAnswer && session.waiting_for?.kept)) return session;
  const id = shortId(session);
  if (session.status === "failed") {
    throw new CliError("session_failed", failureText(session), {
      session_id: session.session_id,
      hint: `To retry: svc sessions restart ${id}\n      Its log: svc sessions logs ${id}`,
    });
  }
  if (session.status !== "stopped") {
    await context.out.note(`Session ${id} is starting. Ctrl-C ends the wait, not the session.`);
    return watch(context, found, session, "running");
  }
  await context.out.note(`Session ${id} is stopped and restarts. Ctrl-C ends the wait, not the session.`);
  return watch(context, found, await wake(found.api, found), "running");
}

/** Restarts a session with its saved work. */
const wake = (api: Api, { path: own }: Found): Promise<Session> =>
  api
    .call<Session>({ method: "POST", path: `${own}/restart`, body: { restore: true }, slow: true })
    .catch((error: unknown) => {
      throw withLimitHint(error);
    });
