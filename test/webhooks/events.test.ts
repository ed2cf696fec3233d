import { afterAll, beforeAll, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { webhookPayload } from "../../src/contract/webhook.ts";
import { WEBHOOK_EVENTS } from "../../src/contract/webhook-event.ts";
import { setFormats } from "../../src/http/formats.ts";
import { invited } from "../helpers/invited.ts";
import { until } from "../helpers/until.ts";
import { startWebhooks, type WebhookBench } from "../helpers/webhooks.ts";

let bench: WebhookBench;
let secret: string;

beforeAll(async () => {
  setFormats();
  bench = await startWebhooks();
  ({ secret } = await bench.add("/all"));
});
afterAll(() => bench.stop());

interface Event {
  id: string;
  type: string;
  timestamp: string;
  // biome-ignore lint/suspicious/noExplicitAny: an event's JSON is looked into by the assertions
  data: any;
}

/** The events that arrived since, with their signatures checked, once no more are on their way. */
async function eventsOf(act: () => Promise<unknown>, count: number): Promise<Event[]> {
  const before = bench.receiver.received.length;
  await act();
  await until(
    () =>
      `${count} events arrive, and not ${JSON.stringify(bench.receiver.received.slice(before).map(({ body }) => JSON.parse(body).type))}`,
    () => bench.receiver.received.length >= before + count,
  );
  const { webhooks } = (await bench.call("GET", "/webhooks")).body;
  for (const { webhook_id } of webhooks)
    await bench.become(webhook_id, (all) => all.every(({ status }) => status === "delivered"));
  return bench.receiver.received.slice(before).map(({ headers, body }) => {
    const checked: unknown = new StandardWebhook(secret).verify(body, headers);
    expect(checked).toEqual(JSON.parse(body));
    const event = JSON.parse(body);
    expect([...Value.Errors(webhookPayload, event)]).toEqual([]);
    expect(event.data.project).toMatchObject({ project_id: bench.projectId, name: "Example" });
    return { id: headers["webhook-id"] ?? "", ...event };
  });
}

async function open(title = "Fix the login") {
  const head = `work-${crypto.randomUUID()}`;
  bench.remote.commit(head, { [head]: "1\n" }, { from: "main" });
  const made = await bench.call("POST", "/change-requests", { body: { title, head_ref: head } });
  expect(made.status).toBe(201);
  return made.body;
}

/** Opens a change request without waiting for its event. */
async function opened() {
  let cr: Awaited<ReturnType<typeof open>>;
  await eventsOf(async () => {
    cr = await open();
  }, 1);
  return cr;
}

const post =
  (path: string, body: unknown = {}) =>
  async () => {
    const answer = await bench.call("POST", path, { body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
  };

type Cr = Awaited<ReturnType<typeof open>>;

test.each<[type: string, act: (cr: Cr) => Promise<unknown>, shown: object]>([
  [
    "cr.updated",
    (cr) => bench.call("PATCH", `/change-requests/${cr.number}`, { body: { title: "b" } }),
    { title: "b" },
  ],
  [
    "cr.updated",
    async (cr) => {
      bench.remote.commit(cr.head_ref, { more: "2\n" });
      await bench.call("GET", `/change-requests/${cr.number}`);
      // a second read finds nothing new
      await bench.call("GET", `/change-requests/${cr.number}`);
    },
    { status: "open" },
  ],
  ["cr.merged", (cr) => post(`/change-requests/${cr.number}/merge`)(), { status: "merged" }],
  [
    "cr.merged",
    async (cr) => {
      bench.remote.git("update-ref", "refs/heads/main", cr.head_commit_sha);
      await bench.call("GET", `/change-requests/${cr.number}`);
    },
    { status: "merged", merged_by: null },
  ],
  ["cr.closed", (cr) => post(`/change-requests/${cr.number}/close`)(), { status: "closed" }],
])("%s arrives once, with the change request as it is then", async (type, act, shown) => {
  const cr = await opened();
  const [event, ...others] = await eventsOf(() => act(cr), 1);
  expect(others).toEqual([]);
  expect(event).toMatchObject({ type, data: { change_request: { number: cr.number, ...shown } } });
});

test("cr.opened arrives once, and equals the answer of the API", async () => {
  let cr: Cr;
  const events = await eventsOf(async () => {
    cr = await open();
  }, 1);
  expect(events).toMatchObject([{ type: "cr.opened", data: { change_request: cr } }]);
});

test("a reopened change request is updated, and closing a closed one reports nothing", async () => {
  const cr = await opened();
  const events = await eventsOf(async () => {
    await post(`/change-requests/${cr.number}/close`)();
    await post(`/change-requests/${cr.number}/close`)();
    await post(`/change-requests/${cr.number}/reopen`)();
  }, 2);
  expect(events.map(({ type }) => type)).toEqual(["cr.closed", "cr.updated"]);
});

test("cr.commented has the comment, cut where it is long", async () => {
  const cr = await opened();
  const body = "é".repeat(9_000);
  const events = await eventsOf(post(`/change-requests/${cr.number}/comments`, { body }), 1);
  expect(events).toMatchObject([{ type: "cr.commented", data: { truncated: ["comment.body"] } }]);
  expect(events[0]?.data.comment.body).toBe(`${"é".repeat(8_191)}…`);
});

test("a review is one event, with its comments", async () => {
  const cr = await opened();
  const [path] = bench.remote.git("diff", "--name-only", `main...${cr.head_ref}`).trim().split("\n");
  const comments = ["a", "b"].map((body) => ({ path, line: 1, body }));
  const act = post(`/change-requests/${cr.number}/reviews`, { event: "COMMENT", comments });
  const [one] = comments;
  expect(await eventsOf(act, 1)).toMatchObject([{ type: "cr.commented", data: { comment: one, comments } }]);
});

test("cr.approved shows the approval", async () => {
  bench.remote.commit("main", { "svc.toml": "svc_version = 1\n[change_requests]\nself_approval = true\n" });
  const cr = await opened();
  const events = await eventsOf(post(`/change-requests/${cr.number}/approve`), 1);
  expect(events).toMatchObject([
    {
      type: "cr.approved",
      data: { change_request: { approvals: [{ head_commit_sha: cr.head_commit_sha }] } },
    },
  ]);
});

test("cr.changes_requested shows the request; withdrawn, the change request is updated", async () => {
  const cr = await opened();
  const at = `/change-requests/${cr.number}/request-changes`;
  const events = await eventsOf(async () => {
    await post(at, { body: "Why?" })();
    for (let times = 0; times < 2; times++) await bench.call("DELETE", at);
  }, 2);
  expect(events).toMatchObject([
    {
      type: "cr.changes_requested",
      data: { change_request: { approvals: [{ state: "changes_requested", body: "Why?" }] } },
    },
    { type: "cr.updated", data: { change_request: { approvals: [] } } },
  ]);
});

test("cr.review_requested has those who were not asked already", async () => {
  await invited(bench.api, "eve@example.com");
  const cr = await opened();
  const events = await eventsOf(async () => {
    for (const body of [{ requested_reviewers: ["eve"] }, { requested_reviewers: ["eve"], title: "other" }])
      await bench.call("PATCH", `/change-requests/${cr.number}`, { body });
  }, 3);
  expect(events.map(({ type }) => type)).toEqual(["cr.updated", "cr.review_requested", "cr.updated"]);
  expect(events[1]?.data).toMatchObject({
    reviewers: [{ name: "eve" }],
    change_request: { requested_reviewers: [{ name: "eve" }] },
  });
});

test("cr.updated says that auto-merge is on, and why it was turned off", async () => {
  bench.remote.commit("main", { "svc.toml": "svc_version = 1\n[change_requests]\nrequired_approvals = 1\n" });
  const cr = await opened();
  const { head_commit_sha } = cr;
  const events = await eventsOf(async () => {
    const body = { head_commit_sha };
    await bench.call("PUT", `/change-requests/${cr.number}/auto-merge`, { body });
    await bench.call("PATCH", `/change-requests/${cr.number}`, { body: { draft: true } });
  }, 2);
  expect(events.map(({ type, data }) => [type, data.change_request.auto_merge])).toMatchObject([
    ["cr.updated", { enabled: true, off_reason: null, head_commit_sha }],
    ["cr.updated", { enabled: false, off_reason: "The change request became a draft." }],
  ]);
  bench.remote.commit("main", { "svc.toml": "svc_version = 1\n" });
});

test("checks of a commit are pending, succeed and fail, and name its open change requests", async () => {
  const cr = await opened();
  const sha = cr.head_commit_sha;
  for (const [state, type] of [
    ["pending", "check.pending"],
    ["success", "check.succeeded"],
    ["failure", "check.failed"],
    ["error", "check.failed"],
  ] as const) {
    const reported = () => bench.call("POST", `/statuses/${sha}`, { body: { state, context: "test" } });
    expect(await eventsOf(reported, 1)).toMatchObject([
      { type, data: { status: { sha, state, context: "test" }, change_requests: [cr.number] } },
    ]);
  }
});

test("a session starts, waits after its prompt, and finishes", async () => {
  let id = "";
  const events = await eventsOf(async () => {
    id = (await bench.call("POST", "/sessions", { body: { initial_prompt: "Fix it" } })).body.session_id;
  }, 2);
  expect(events).toMatchObject([
    { type: "session.started", data: { session: { session_id: id, status: "running" } } },
    { type: "session.waiting", data: { waiting_for: "prompt", prompt: { state: "answered" } } },
  ]);
  const ended = await eventsOf(post(`/sessions/${id}/stop`), 1);
  expect(ended).toMatchObject([
    { type: "session.finished", data: { session: { status: "stopped", stop_reason: "user" } } },
  ]);
});

test("a session that does not start has failed", async () => {
  bench.provider.onStart = () => {
    throw new Error("no room");
  };
  const events = await eventsOf(post("/sessions"), 1);
  bench.provider.onStart = () => {};
  expect(events).toMatchObject([{ type: "session.failed", data: { session: { status: "failed" } } }]);
});

test("deployments start, are live, fail and stop", async () => {
  const merge = async (root: string) => {
    const toml = `svc_version = 1\n[[apps]]\nslug = "site"\nsource = { root_path = "${root}" }\nstatic = { dir = "." }\n`;
    bench.remote.commit("main", { "svc.toml": toml, "site/index.html": "hello" });
    await bench.call("PATCH", "", { body: { default_branch: "main" } });
  };
  const live = await eventsOf(() => merge("site"), 2);
  expect(live).toMatchObject([
    {
      type: "deployment.started",
      data: { app: { slug: "site" }, deployment: { number: 1, state: "building" } },
    },
    { type: "deployment.live", data: { deployment: { number: 1, state: "live" } } },
  ]);
  const failed = await eventsOf(() => merge("nowhere"), 1);
  expect(failed).toMatchObject([
    { type: "deployment.failed", data: { deployment: { number: 2, state: "failed" } } },
  ]);
  const stopped = await eventsOf(post("/apps/site/stop"), 1);
  expect(stopped).toMatchObject([{ type: "deployment.stopped", data: { deployment: { number: 1 } } }]);
});

test("each type of the contract has arrived, and no id twice", () => {
  const arrived = bench.receiver.received.map(({ body }) => JSON.parse(body).type);
  expect(new Set(arrived)).toEqual(new Set(WEBHOOK_EVENTS));
  const ids = bench.receiver.received.map(({ headers }) => headers["webhook-id"]);
  expect(new Set(ids).size).toBe(ids.length);
});
