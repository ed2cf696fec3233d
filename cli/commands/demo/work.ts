import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Project } from "../../../src/contract/project.ts";
import type { Prompt } from "../../../src/contract/prompt.ts";
import type { Session } from "../../../src/contract/session.ts";
import { isAlive } from "../../../src/contract/session.ts";
import { path } from "../../api.ts";
import { isOwnServer } from "../../api-failure.ts";
import { CliError } from "../../failure.ts";
import { oneLine, shellWord } from "../../text.ts";
import { makeProgress } from "../sessions/progress.ts";
import { send, waitForEnd } from "../sessions/prompt.ts";
import type { Found } from "../sessions/reference.ts";
import { watch } from "../sessions/watch.ts";
import type { Demo } from "./demo.ts";
import { TASK } from "./sample.ts";

/** The session of the demo. */
export function sessionOf({ api, record }: Demo, { project_id }: Project): Found {
  const at = path`/projects/${project_id}/sessions/${record.session_id}`;
  return { api, id: record.session_id, path: at };
}

/**
 * Waits until the agent has opened its change request. A session that has stopped or failed is restarted, and a task that
 * was cut off is given again.
 * @throws CliError `session_failed` and others of the wait, `demo_failed`
 */
export async function work(
  demo: Demo,
  { project, session, prompt }: { project: Project; session: Session; prompt: Prompt | null },
): Promise<void> {
  const found = sessionOf(demo, project);
  await wake(demo, found, session);
  const running = prompt?.ended_at == null ? prompt : null;
  if (prompt?.state === "answered") throw notDone(project, found);
  const task = running ?? (await send(found, { prompt_id: crypto.randomUUID(), text: TASK }));
  const { state, error } = await waitForPrompt(
    demo,
    found,
    task,
    "The agent works: it edits, commits and pushes",
  );
  if (state === "failed") throw notDone(project, found, error);
}

/** Waits for a prompt's end, and shows that it runs. */
export async function waitForPrompt(demo: Demo, found: Found, prompt: Prompt, what: string): Promise<Prompt> {
  const progress = makeProgress(demo.context);
  progress.step(what);
  try {
    const over = await waitForEnd(demo.context, found, prompt);
    await progress.end(over.state === "answered" ? "worked" : "failed");
    return over;
  } catch (error) {
    await progress.end("failed");
    throw error;
  }
}

/** Waits until the session runs; restarts it first if it has ended. */
export async function wake(demo: Demo, found: Found, session: Session): Promise<void> {
  const { context, api } = demo;
  if (session.status === "running") return;
  const started = isAlive(session)
    ? session
    : await api.call<Session>({ method: "POST", path: `${found.path}/restart`, slow: true });
  await watch(context, found, started, "running").catch((error: unknown) => {
    throw withDemoHint(demo, error);
  });
}

/** Adds how the demo continues, and without the agent runtime the command that installs it. */
function withDemoHint({ context: { system }, api }: Demo, error: unknown): unknown {
  if (!(error instanceof CliError)) return error;
  const { message, extra } = error;
  if (!message.includes("agent runtime is not installed")) {
    const hint = `${extra.hint ?? ""}\n      To continue the demo: svc demo`.trim();
    return new CliError(error, message, { ...extra, hint });
  }
  const own = isOwnServer(api.target) ? "Run: svc self-host start --install-runtime" : null;
  const beside = join(dirname(system.self[0] ?? ""), "svc-api");
  const program = existsSync(beside) ? shellWord(beside) : "svc-api";
  return new CliError("runtime_missing", message, {
    ...extra,
    log: undefined,
    hint: `${own ?? `On the server's machine, as the user that runs the server: ${program} runtime install`}\n      To continue the demo: svc demo`,
  });
}

/** @param error why, if the runtime has said it */
export function notDone(project: Project, { id }: Found, error: string | null = null): CliError {
  const why = error === null ? "" : ` ${oneLine(error)}`;
  return new CliError("demo_failed", `The agent of the demo did not finish its task.${why}`, {
    session_id: id,
    hint: `What it did: svc sessions chat ${id.slice(0, 8)} --project ${project.slug}\n      To start again: svc demo --clean, then svc demo`,
  });
}
