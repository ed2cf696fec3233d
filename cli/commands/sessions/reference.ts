import type { Session } from "../../../src/contract/session.ts";
import { type Api, path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { oneLine } from "../../text.ts";
import { shortId, statusText } from "./show-session.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** A prefix of a UUID that is long enough to be unique in practice. */
const PREFIX = /^[0-9a-f]{4}[0-9a-f-]{0,31}$/i;
/** Sessions that are searched for a prefix, or offered as choices. */
const MANY = 10_000;
const OFFERED = 200;

/** A session of the current project. */
export interface Found {
  api: Api;
  id: string;
  /** Below the host's `/v1`. */
  path: string;
}

/**
 * The session that `<id>` names: its UUID or a prefix of it. Without one, it prompts.
 * @throws CliError `usage` for an invalid or ambiguous id, `not_found`.
 */
export async function findSession(context: Context, reference: string | undefined): Promise<Found> {
  if (reference !== undefined) checkReference(reference);
  const { id: project } = await context.project();
  const api = await context.api();
  const collection = path`/projects/${project}/sessions`;
  const id =
    reference === undefined ? await pick(api, collection) : await resolve(api, collection, reference);
  return { api, id, path: `${collection}${path`/${id}`}` };
}

/**
 * Like `findSession`, but defaults to the sandbox's own session.
 * @param hint where to find what else the words may name
 */
export async function findOwnSession(
  context: Context,
  reference: string | undefined,
  hint?: string,
): Promise<Found> {
  if (reference !== undefined) checkReference(reference, hint);
  const named = reference ?? (context.system.env["SVC_SESSION_ID"] || undefined);
  if (named === undefined && !context.canAsk()) {
    throw usage("A session is required: name it by its id.", "`svc sessions ls` lists them.");
  }
  return findSession(context, named);
}

function checkReference(text: string, hint = ""): void {
  if (UUID.test(text) || PREFIX.test(text)) return;
  throw usage(
    `Not a session: ${oneLine(text).slice(0, 100)}`,
    `Name it by its id or the first digits of it, four or more. \`svc sessions ls\` lists them.${hint}`,
  );
}

async function resolve(api: Api, collection: string, reference: string): Promise<string> {
  const prefix = reference.toLowerCase();
  if (UUID.test(prefix)) return prefix;
  const sessions = await api.list<Session>({ path: collection }, "sessions", MANY);
  const found = sessions.filter(({ session_id }) => session_id.startsWith(prefix));
  const [one] = found;
  if (one === undefined) {
    throw new CliError("not_found", `No session of the project has an id that begins with ${prefix}.`, {
      hint: "`svc sessions ls` lists them.",
    });
  }
  if (found.length === 1) return one.session_id;
  throw usage(
    `${found.length} session ids begin with ${prefix}: give more digits.`,
    found
      .slice(0, 5)
      .map((session) => oneLine(`${session.session_id}  ${session.title ?? ""}`).trimEnd())
      .join("\n      "),
  );
}

async function pick(api: Api, collection: string): Promise<string> {
  const found = await api.list<Session>({ path: collection }, "sessions", OFFERED);
  if (found.length === 0) {
    throw new CliError("not_found", "The project has no sessions.", {
      hint: "Start one with `svc sessions new`.",
    });
  }
  const { choose } = await import("../../prompt.ts");
  return choose(
    "Which session?",
    found.map((session) => ({
      value: session.session_id,
      label: `${shortId(session)} ${session.title ?? ""}`.trimEnd(),
      hint: statusText(session),
    })),
  );
}
