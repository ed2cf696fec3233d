import { afterAll, beforeEach, expect, test } from "bun:test";
import { makeApi } from "../../cli/api.ts";
import type { Target } from "../../cli/target.ts";
import { transportOf } from "../../cli/transport.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { type FollowEvent, follow } from "../../src/conversation/follow.ts";
import { failure, fakeApi, PROJECT_ID, type Seen, TOKEN } from "../helpers/cli-api.ts";
import { fakeSystem } from "../helpers/cli-run.ts";
import {
  booting,
  changed,
  deleted,
  eventStream,
  logged,
  SESSION_ID,
  session,
  type Turn,
} from "../helpers/cli-sessions.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const EVENTS = "GET /projects/:p/sessions/:n/events";
const PATIENCE = { firstDelayMs: 1, maxDelayMs: 20 };

/** The responses of successive connections; the last one repeats. */
function connections(...answers: (readonly Turn[] | ((call: Seen) => Response))[]) {
  const cursors: (string | null)[] = [];
  api.on(EVENTS, (call) => {
    const answer = answers[Math.min(cursors.length, answers.length - 1)];
    cursors.push(call.headers.get("last-event-id"));
    if (typeof answer === "function") return answer(call);
    return eventStream(answer ?? [], Number(call.headers.get("last-event-id") ?? 0) + 1);
  });
  return cursors;
}

/** The events up to the one that `until` accepts, or the end of the stream. */
async function collect(
  until: (event: FollowEvent) => boolean,
  { signal = new AbortController().signal, url = api.url, silentSeconds = 10, giveUpMs = WAIT_LIMIT_MS } = {},
) {
  const target: Target = {
    name: "team",
    url,
    dashboardUrl: undefined,
    accountId: undefined,
    token: TOKEN,
    tokenSource: "config",
    source: "active",
  };
  const own = makeApi(fakeSystem(), target, 60);
  const events: FollowEvent[] = [];
  const policy = { ...PATIENCE, silentSeconds, giveUpMs };
  for await (const each of follow(
    transportOf(own),
    `/projects/${PROJECT_ID}/sessions/${SESSION_ID}`,
    signal,
    policy,
  )) {
    if (each.type !== "lost" || events.at(-1)?.type !== "lost") events.push(each);
    if (until(each)) break;
  }
  return events.map((each) => {
    if (each.type === "session") return each.session.step ?? each.session.status;
    return each.type === "log" ? each.line.text : each.type;
  });
}

const runs = (event: FollowEvent) => event.type === "session" && event.session.status === "running";
const never = () => false;

test("events come in order, whatever else is in the stream", async () => {
  connections([
    ": hello\n\n",
    changed(booting("branch")),
    logged("one"),
    'id: 9\ndata: {"type":"of a newer server"}\n\n',
    'data: {"type":"session","session":{}}\n\n',
    changed(session()),
  ]);
  expect(await collect(runs)).toEqual(["branch", "one", "running"]);
});

test.each<[string, readonly Turn[] | (() => Response)]>([
  ["ends", ["cut"]],
  ["ends in the middle of an event", ["data: {", "cut"]],
  ["falls silent", []],
  ["is refused by a proxy in between", () => new Response("bad gateway", { status: 502 })],
  ["finds the server draining", () => failure("unavailable", "The server is draining.", 503)],
  ["finds the server failing", () => failure("internal", "?", 500)],
  ["finds too many", () => failure("rate_limited", "Slow down.", 429, {}, { "Retry-After": "3600" })],
])("reconnects after a connection that %s, and resumes after the last event", async (_, broken) => {
  const begun = [changed(booting("branch")), logged("one")];
  const first = typeof broken === "function" ? [...begun, "cut" as const] : [...begun, ...broken];
  const cursors =
    typeof broken === "function"
      ? connections(first, broken, [changed(session())])
      : connections(first, [changed(session())]);
  const silentSeconds = Array.isArray(broken) && broken.length === 0 ? 1.5 : 10;
  expect(await collect(runs, { silentSeconds })).toEqual(["branch", "one", "lost", "running"]);
  expect(cursors[0]).toBeNull();
  expect(new Set(cursors.slice(1))).toEqual(new Set(["2"]));
});

test("a heartbeat keeps an idle connection open", async () => {
  const beats = Array.from({ length: 10 }, () => [250, ": heartbeat\n\n"]).flat();
  const cursors = connections([changed(booting("image")), ...beats, changed(session())]);
  expect(await collect(runs, { silentSeconds: 2 })).toEqual(["image", "running"]);
  expect(cursors).toHaveLength(1);
});

test("a session that is deleted ends the stream, also while the connection is down", async () => {
  connections([changed(session()), deleted, logged("nothing of this")]);
  expect(await collect(never)).toEqual(["running", "deleted"]);
  api.reset();
  connections([changed(session()), "cut"], () => failure("not_found", "There is no such session.", 404));
  expect(await collect(never)).toEqual(["running", "lost", "deleted"]);
});

test.each([
  ["that the session does not exist", "not_found", 404],
  ["that the token is invalid", "unauthorized", 401],
  ["that access is forbidden", "forbidden", 403],
])("reports at once %s", async (_, code, status) => {
  const cursors = connections(() => failure(code, "No.", status));
  expect(await collect(never).catch((error: unknown) => error)).toMatchObject({ code });
  expect(cursors).toHaveLength(1);
});

test("a response that is not an event stream is an error without a retry", async () => {
  const cursors = connections(["data: <html>\n\n"]);
  expect(await collect(never).catch((error: unknown) => error)).toMatchObject({
    code: "unexpected_response",
  });
  expect(cursors).toHaveLength(1);
});

test("gives up on an unreachable host, with the reason", async () => {
  const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const url = `http://127.0.0.1:${gone.port}/v1`;
  await gone.stop(true);
  const failed = await collect(never, { url, giveUpMs: 400 }).catch((error: unknown) => error);
  expect(failed).toMatchObject({
    code: "network",
    message: expect.stringContaining("The host refused the connection"),
  });
});

test("an abort ends the wait, connected or not", async () => {
  for (const answer of [[changed(session())], () => new Response("", { status: 502 })]) {
    connections(answer);
    const stop = new AbortController();
    const ended = collect(never, { signal: stop.signal });
    await Bun.sleep(50);
    stop.abort();
    await ended;
  }
});
