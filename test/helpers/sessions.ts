import postgres from "postgres";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import type { Session, SessionEvent } from "../../src/contract/session.ts";
import { Changes } from "../../src/lib/changes.ts";
import { type Api, startApi } from "./api.ts";
import { Remote } from "./remote.ts";
import { StandInProvider } from "./stand-in-provider.ts";
import { until } from "./until.ts";

/** A server with stand-in sandboxes and a project on a git host (a folder of the test's). */
export interface SessionBench {
  api: Api;
  provider: StandInProvider;
  remote: Remote;
  projectId: string;
  /** Below `/v1/projects/<id>/sessions`. */
  call(method: string, path: string, options?: Parameters<Api["call"]>[2]): ReturnType<Api["call"]>;
  create(body?: Record<string, unknown>): Promise<Session>;
  get(sessionId: string): Promise<Session>;
  /** Makes the server check its sandboxes now. */
  look(): void;
  /** Makes it check its sandboxes, and waits for the end of the check. */
  looked(): Promise<void>;
  /** Lets the server's time pass. */
  advance(seconds: number): void;
  /** Sets the server's clock forward, while no time passes. */
  setClock(seconds: number): void;
  /** Waits until the session's status is one of these. */
  becomes(sessionId: string, ...statuses: Session["status"][]): Promise<Session>;
  stop(): Promise<void>;
}

export async function startSessions(options: Parameters<typeof startApi>[0] = {}): Promise<SessionBench> {
  const provider = new StandInProvider();
  const { deps = {}, ...rest } = options;
  const changes = deps.changes ?? new Changes();
  let ahead = 0;
  let jumped = 0;
  const clock = () => new Date(Date.now() + (ahead + jumped) * 1000);
  const monotonic = () => performance.now() + ahead * 1000;
  const api = await startApi({
    ...rest,
    deps: { sandboxes: provider.sandboxesOf, changes, clock, monotonic, ...deps },
  });
  const sql = api.databaseUrl === null ? null : postgres(api.databaseUrl, { max: 1, onnotice() {} });
  const remote = new Remote();
  remote.commit("main", { a: "1\n" });
  const { project_id: projectId } = await api.project(remote.url);
  const call: SessionBench["call"] = (method, path, options) =>
    api.call(method, `/v1/projects/${projectId}/sessions${path}`, options);
  const look = () => {
    for (const subject of ["runs", "sessions"]) changes.notify(subject);
  };
  const get = async (id: string): Promise<Session> => (await call("GET", `/${id}`)).body;
  return {
    api,
    provider,
    remote,
    projectId,
    call,
    get,
    look,
    looked: () => provider.untilLooked(look),
    advance(seconds) {
      ahead += seconds;
    },
    setClock(seconds) {
      jumped += seconds;
    },
    async create(body = {}) {
      const made = await call("POST", "", { body });
      if (made.status !== 201) throw new Error(`no session: ${made.status} ${made.text}`);
      return made.body;
    },
    async becomes(id, ...statuses) {
      if (sql !== null) await untilStored(sql, id, statuses);
      return await untilStatus(() => get(id), statuses);
    },
    async stop() {
      await sql?.end({ timeout: 1 });
      await api.stop();
      await provider.close();
      remote.remove();
    },
  };
}

/** Waits until a session's status in the database is one of these: to read it takes a tenth of what a request takes. */
export async function untilStored(
  sql: postgres.Sql,
  id: string,
  statuses: readonly Session["status"][],
): Promise<void> {
  let last: unknown;
  await until(
    () => `the session is ${statuses.join(" or ")}, and not ${last}`,
    async () => {
      const [row] = await sql`select status from runs where run_id = ${id}`;
      last = row?.["status"];
      return statuses.some((status) => status === last);
    },
  );
}

/** Waits until a session's status is one of these. */
export async function untilStatus(
  look: () => Promise<Session | null>,
  statuses: readonly Session["status"][],
): Promise<Session> {
  let last: Session | null = null;
  await until(
    () => `the session is ${statuses.join(" or ")}, and not ${JSON.stringify(last)}`,
    async () => {
      last = await look();
      return last !== null && statuses.includes(last.status);
    },
  );
  if (last === null) throw new Error("the session is gone");
  return last;
}

/** Reads an event stream until a matching event. */
export async function readEvents(
  api: Api,
  path: string,
  isLast: (event: SessionEvent) => boolean,
  headers: Record<string, string> = {},
): Promise<{ events: SessionEvent[]; lastId: string }> {
  const response = await fetch(api.url + path, {
    headers: { Authorization: `Bearer ${api.token}`, ...headers },
    signal: AbortSignal.timeout(WAIT_LIMIT_MS),
  });
  if (response.status !== 200) throw new Error(`no events: ${response.status} ${await response.text()}`);
  const events: SessionEvent[] = [];
  let lastId = "";
  let text = "";
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    text += Buffer.from(read.value).toString();
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      lastId = /^id: (.*)$/m.exec(block)?.[1] ?? lastId;
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data === undefined) continue;
      const event: SessionEvent = JSON.parse(data);
      events.push(event);
      if (isLast(event)) {
        await reader?.cancel();
        return { events, lastId };
      }
    }
  }
  return { events, lastId };
}
