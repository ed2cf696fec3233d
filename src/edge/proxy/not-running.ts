import { SvcError } from "../../contract/errors.ts";
import { acceptsPage } from "../../contract/page.ts";
import type { BootStep } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { resumeSession } from "../../features/sessions/restart.ts";
import type { SessionRow } from "../../features/sessions/row.ts";
import type { Decision } from "../../splice/connection.ts";
import { fieldOf } from "../../splice/fields.ts";
import type { RequestHead } from "../../splice/head.ts";
import { type Page, refuse } from "./refuse.ts";

/** Starting a sandbox takes a few seconds. */
const RETRY_S = 3;

/**
 * The response for a session whose sandbox is not running. A stopped session is started when a person requests it.
 * @throws concurrent_session_limit
 */
export async function notRunning(deps: Deps, session: SessionRow, head: RequestHead): Promise<Decision> {
  const wakes = session.status === "stopped" && isWanted(head);
  if (wakes) await resumeSession(deps, session.sessionId);
  const page = pageOf(wakes ? { ...session, status: "provisioning" } : session);
  const { status, title } = page;
  const again = { "Retry-After": String(RETRY_S) };
  return { answer: refuse(deps, new SvcError("not_running", `${title}.`, { status }, again), head, page) };
}

/** Whether a person made the request, by opening a page or an action; not the background requests of an open page. */
function isWanted(head: RequestHead): boolean {
  if (head.method !== "GET") return head.method !== "HEAD" && head.method !== "OPTIONS";
  const mode = fieldOf(head.fields, "sec-fetch-mode");
  return mode === undefined ? acceptsPage(fieldOf(head.fields, "accept") ?? null) : mode === "navigate";
}

const STEPS: Readonly<Record<BootStep, string>> = {
  branch: "creating the branch",
  image: "preparing the image",
  waiting: "waiting for a slot of the server",
  sandbox: "starting the sandbox",
  clone: "cloning the repository",
  setup: "running the setup command",
  runtime: "starting the agent runtime",
};

function pageOf(session: SessionRow): Page & { status: string } {
  const { sessionId, status, name, step, blockedOn, error } = session;
  const which = `Session ${name ?? sessionId}.`;
  if (status === "stopped") {
    return {
      status,
      title: "The session is stopped",
      sentences: [which, "Reload the page to start it."],
    };
  }
  if (status === "failed") {
    const remedy = `Start it again with: svc sessions restart ${sessionId}`;
    return { status, title: "The session failed", sentences: [which, ...(error ? [error] : []), remedy] };
  }
  const now = blockedOn?.message ?? (step ? `Current step: ${STEPS[step]}.` : "It is queued.");
  const wait = "This page reloads automatically.";
  return { status, title: "The session is starting", sentences: [which, now, wait], refreshS: RETRY_S };
}
