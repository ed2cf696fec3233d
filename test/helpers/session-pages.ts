import type { Browser } from "playwright-core";
import type { Session } from "../../src/contract/session.ts";
import { closeProfiles, sharedBrowser, signIn, type Visit, type VisitOptions, visit } from "./browser.ts";
import type { FakeApi, Seen } from "./cli-api.ts";
import { ScriptedRuntime } from "./conversation.ts";
import { keepPages } from "./kept-pages.ts";
import { type SessionBench, startSessions } from "./sessions.ts";

/**
 * A real server, a real browser, and sandboxes that stand in: their runtime says what a test lets it say, and their
 * states are those that a test brings them into.
 */
export interface SessionPages extends SessionBench {
  browser: Browser;
  /** The stand-in for a session's agent runtime. */
  runtimeOf(sessionId: string): ScriptedRuntime;
  /** A session that runs. */
  running(body?: Record<string, unknown>): Promise<Session>;
  /** Opens a page of the project, signed in. @param path below the project's, from `/sessions` */
  open(path: string, options?: Parameters<typeof visit>[2]): Promise<Visit>;
  /** The same, in a page that an earlier test has closed, if there is one. */
  at(path: string, options?: Pick<VisitOptions, "size" | "dark">): Promise<Visit>;
}

export async function startSessionPages(): Promise<SessionPages> {
  const [bench, browser] = await Promise.all([startSessions(), sharedBrowser()]);
  const runtimes = new Map<string, { runtime: ScriptedRuntime; answer: Answer }>();
  const known = (sessionId: string) => {
    const found = runtimes.get(sessionId) ?? makeRuntime();
    runtimes.set(sessionId, found);
    found.runtime.onBusy = (busy) => {
      const standIn = bench.provider.sandboxes.get(sessionId);
      if (standIn) standIn.health.busy = busy;
    };
    return found;
  };
  bench.provider.firstHealth = { conversation: "ses_conversation" };
  bench.provider.onPrompt = (body, { spec }) =>
    known(spec.sessionId).runtime.deliver(body) ?? new Response(null, { status: 409 });
  bench.provider.onAbort = ({ spec }) => known(spec.sessionId).runtime.abort();
  bench.provider.onRequest = async (request, { spec }) =>
    answered(await known(spec.sessionId).answer(await seen(request)));
  const running: SessionPages["running"] = async (body) => {
    const { session_id } = await bench.create(body);
    return bench.becomes(session_id, "running");
  };
  const openAs = async (email: string, path: string, options?: VisitOptions) => {
    // the least that there is to load before it is signed in
    const visited = await visit(browser, `${bench.api.url}/assets/icon.svg`, options);
    await signIn(visited, bench.api, path, email);
    return visited;
  };
  const at = keepPages(openAs);
  const below = (path: string) => `/projects/${bench.projectId}${path}`;
  return {
    ...bench,
    browser,
    running,
    runtimeOf: (sessionId) => known(sessionId).runtime,
    open: (path, options) => openAs(USER, below(path), options),
    at: (path, options) => at(USER, below(path), options),
    async stop() {
      await closeProfiles();
      await bench.stop();
    },
  };
}

/** The first user of the server. */
const USER = "first@example.com";

type Answer = Parameters<FakeApi["mount"]>[1];

function makeRuntime(): { runtime: ScriptedRuntime; answer: Answer } {
  let answer: Answer = () => undefined;
  const runtime = new ScriptedRuntime({
    mount(_, route) {
      answer = route;
    },
  });
  return { runtime, answer };
}

/** A request to a sandbox, as one to the API's proxy. */
async function seen(request: Request): Promise<Seen> {
  const { pathname, searchParams } = new URL(request.url);
  const text = await request.text();
  return {
    method: request.method,
    path: `/p/sandbox/8000${pathname}`,
    query: Object.fromEntries(searchParams),
    headers: request.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

function answered(answer: Awaited<ReturnType<Answer>>): Response {
  if (answer === undefined) return new Response(null, { status: 404 });
  return answer instanceof Response ? answer : Response.json(answer);
}
