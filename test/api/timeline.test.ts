import { afterAll, beforeAll, expect } from "bun:test";
import postgres from "postgres";
import type { TimelineEvent } from "../../src/contract/timeline.ts";
import { timelineActor, timelineText } from "../../src/contract/timeline-text.ts";
import { EVENTS_MAX } from "../../src/features/timeline/record.ts";
import type { Answer } from "../helpers/api.ts";
import { runClient } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { generator, SEED, sample, share } from "../helpers/random.ts";
import { asks, type ReviewBench, startReviews } from "../helpers/reviewers.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let sql: ReturnType<typeof postgres>;
/** Tokens, by the names of those who act. */
const tokens: Record<string, string> = {};
const AGENT = 'the token "agent"';

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  sql = postgres(bench.api.databaseUrl ?? "", { max: 1, onnotice() {} });
  tokens["first"] = bench.api.token;
  for (const name of ["bob", "cleo"]) tokens[name] = await bench.member(`${name}@example.com`);
  tokens[AGENT] = await bench.agent();
  for (const name of ["bug", "ui"]) await bench.call("POST", "/labels", { body: { name } });
  bench.remote.commit("other", { b: "1\n" }, { from: "main" });
});
afterAll(async () => {
  await sql?.end({ timeout: 1 });
  await bench?.stop();
});

type Cr = Answer["body"];
const call = (method: string, cr: Cr, rest: string, body?: unknown, who = "first") =>
  bench.call(method, `/change-requests/${cr.number}${rest}`, {
    token: tokens[who] ?? "",
    ...(body !== undefined && { body }),
  });
const edit = (cr: Cr, body: object, who?: string) => call("PATCH", cr, "", body, who);
const short = (sha: string) => sha.slice(0, 8);
const said = (event: TimelineEvent) => `${timelineActor(event)} ${timelineText(event)}`.trim();

/** The events, read in pages. */
async function eventsOf(cr: Cr, limit = 200): Promise<TimelineEvent[]> {
  const all: TimelineEvent[] = [];
  let cursor = "";
  do {
    const { status, body } = await call("GET", cr, `/timeline?limit=${limit}${cursor}`);
    expect(status).toBe(200);
    all.push(...body.events);
    cursor = body.next_cursor === undefined ? "" : `&cursor=${body.next_cursor}`;
  } while (cursor !== "");
  return all;
}
const timelineOf = async (cr: Cr) => (await eventsOf(cr)).map(said);

/** A push is described once its commits are fetched: one that is replaced before may never be. */
const described = (cr: Cr) =>
  until("pushes are described", async () =>
    (await eventsOf(cr)).every(({ event, commits }) => event !== "pushed" || commits !== undefined),
  );

/** What a sequence of actions has made of a change request, and the sentences that its timeline must have. */
class Model {
  title = "t";
  draft = false;
  base = "main";
  isOpen = true;
  autoMerge = false;
  readonly sets = { label: new Set<string>(), assignee: new Set<string>(), reviewer: new Set<string>() };
  readonly reviews = new Map<string, "approved" | "changes_requested">();
  verdict: { sha: string; state: string } | null = null;
  readonly events: string[] = [];

  constructor(readonly cr: Cr) {
    this.add("first", `wants to merge "${cr.head_ref}" into "main"`);
  }
  get head(): string {
    return bench.remote.sha(this.cr.head_ref);
  }
  add(who: string, text: string): void {
    this.events.push(`${who} ${text}`.trim());
  }
  turnOff(who: string, reason: string): void {
    if (this.autoMerge) this.add(who, `turned off auto-merge: ${reason}`);
    this.autoMerge = false;
  }
  dismiss(who: string, whose: string): void {
    const what = this.reviews.get(whose) === "approved" ? "approval" : "request for changes";
    this.reviews.delete(whose);
    this.add(who, who === whose ? `withdrew their ${what}` : `dismissed the ${what} of ${whose}`);
  }
}

type Pick = <T>(values: readonly T[]) => T;
type Action = (model: Model, pick: Pick) => Promise<unknown>;

/** Changes a set by one name, as `who`. */
async function toggle(model: Model, part: keyof Model["sets"], name: string, who: string): Promise<void> {
  const set = model.sets[part];
  const has = set.has(name);
  const key = { label: "labels", assignee: "assignees", reviewer: "requested_reviewers" }[part];
  const words = {
    label: [`added the label ${name}`, `removed the label ${name}`],
    assignee: [`assigned ${name}`, `unassigned ${name}`],
    reviewer: [`requested a review from ${name}`, `withdrew the request for a review from ${name}`],
  }[part];
  expect((await edit(model.cr, { [`${has ? "remove" : "add"}_${key}`]: [name] }, who)).status).toBe(200);
  if (has) set.delete(name);
  else set.add(name);
  const text = words[has ? 1 : 0] ?? "";
  model.add(who, part === "assignee" && who === name ? text.replace(name, "themselves") : text);
}

async function review(model: Model, who: string, state: "approved" | "changes_requested"): Promise<void> {
  const [at, body] = state === "approved" ? ["/approve"] : ["/request-changes", { body: "Why?" }];
  expect((await call("POST", model.cr, at ?? "", body, who)).status).toBe(200);
  model.reviews.delete(who);
  model.reviews.set(who, state);
  model.sets.reviewer.delete(who);
  model.add(who, `${state === "approved" ? "approved" : "requested changes of"} ${short(model.head)}`);
}

/** Actions that an open change request allows. */
const ACTIONS: Record<string, Action> = {
  async rename(model, pick) {
    const [who, title] = [pick(["first", "bob", AGENT]), pick(["t", "u", 'a "b"'])];
    await edit(model.cr, { title }, who);
    if (title !== model.title) model.add(who, `changed the title from "${model.title}" to "${title}"`);
    model.title = title;
  },
  async draft(model, pick) {
    const [who, draft] = [pick(["first", AGENT]), pick([true, false])];
    await edit(model.cr, { draft }, who);
    if (draft) model.turnOff(who, "The change request became a draft.");
    if (draft !== model.draft) model.add(who, draft ? "made it a draft" : "marked it as ready");
    model.draft = draft;
  },
  label: (model, pick) => toggle(model, "label", pick(["bug", "ui"]), pick(["first", AGENT])),
  assign: (model, pick) => toggle(model, "assignee", pick(["bob", "cleo"]), pick(["first", "bob"])),
  ask: (model, pick) => toggle(model, "reviewer", pick(["bob", "cleo"]), pick(["first", AGENT])),
  approve: (model, pick) => review(model, pick(["bob", "cleo"]), "approved"),
  object: (model, pick) => review(model, pick(["bob", "cleo"]), "changes_requested"),
  async withdraw(model, pick) {
    const who = pick(["bob", "cleo"]);
    const at = pick(["/approve", "/request-changes"]);
    await call("DELETE", model.cr, at, undefined, who);
    const state = at === "/approve" ? "approved" : "changes_requested";
    if (model.reviews.get(who) === state) model.dismiss(who, who);
  },
  async rebase(model, pick) {
    const [who, base] = [pick(["first", "bob"]), pick(["main", "other"])];
    await edit(model.cr, { base_ref: base }, who);
    if (base === model.base) return;
    model.add(who, `changed the base from "${model.base}" to "${base}"`);
    model.turnOff(who, "The base of the change request was changed.");
    for (const [whose, state] of [...model.reviews]) if (state === "approved") model.dismiss(who, whose);
    model.base = base;
  },
  async push(model, pick) {
    const count = pick([1, 2]);
    for (let n = 0; n < count; n++) bench.remote.commit(model.cr.head_ref, { c: `${Math.trunc(n)}\n` });
    await described(model.cr);
    model.add("somebody", `pushed ${count} ${count === 1 ? "commit" : "commits"}`);
    model.turnOff("svc", "Commits were pushed to the branch.");
  },
  async forcePush(model) {
    const before = model.head;
    const file = { [model.cr.head_ref]: `${model.events.length}\n` };
    const after = bench.remote.commit(model.cr.head_ref, file, { from: "main" });
    await described(model.cr);
    model.add("somebody", `force-pushed the branch from ${short(before)} to ${short(after)}`);
    model.turnOff("svc", "Commits were pushed to the branch.");
  },
  async check(model, pick) {
    const [state, sha] = [pick(["success", "failure", "pending"]), model.head];
    await bench.call("POST", `/statuses/${sha}`, { body: { state, context: "test" } });
    const isSame = model.verdict?.sha === sha && model.verdict.state === state;
    if (state === "pending" || isSame) return;
    model.verdict = { sha, state };
    model.add("", `checks of ${short(sha)} ${state === "success" ? "passed" : "failed"}`);
  },
  async autoMerge(model, pick) {
    const who = pick(["first", "bob"]);
    const on = pick([true, true, false]);
    if (on && model.draft) return;
    const answer = on
      ? await call("PUT", model.cr, "/auto-merge", { head_commit_sha: model.head }, who)
      : await call("DELETE", model.cr, "/auto-merge", undefined, who);
    expect(answer.status).toBe(200);
    if (on) model.add(who, "turned on auto-merge");
    else if (model.autoMerge) model.add(who, "turned off auto-merge");
    model.autoMerge = on;
  },
  async close(model, pick) {
    const who = pick(["first", "bob", AGENT]);
    await call("POST", model.cr, "/close", undefined, who);
    model.turnOff(who, "The change request was closed.");
    model.add(who, "closed it");
    const again = pick(["first", "cleo"]);
    await call("POST", model.cr, "/reopen", undefined, again);
    model.add(again, "reopened it");
  },
};

test("the timeline has what was done, in that order, and by whom", async () => {
  bench.rule(asks(9));
  const random = generator(SEED);
  const pick: Pick = (values) => {
    const value = values[random(values.length)];
    if (value === undefined) throw new Error("nothing to pick from");
    return value;
  };
  for (let run = 0; run < share(1, 12); run++) {
    const model = new Model(await bench.open());
    const names = Object.keys(ACTIONS);
    for (let step = 0; step < 24; step++) await ACTIONS[pick(names)]?.(model, pick);
    const events = await eventsOf(model.cr, 1 + random(7));
    expect(events.map(said)).toEqual(model.events);
    expect(events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).sort((a, b) => a - b));
  }
});

test("what changes nothing is no event, and what ends twice ends once", async () => {
  bench.rule(asks(9));
  const cr = await bench.open();
  const sha = bench.remote.sha(cr.head_ref);
  const report = (context: string, state: string) =>
    bench.call("POST", `/statuses/${sha}`, { body: { context, state } });
  await edit(cr, { requested_reviewers: ["bob"], labels: ["bug"], assignees: ["cleo"] });
  await edit(cr, { title: "t", add_labels: ["bug"], add_assignees: ["cleo"], requested_reviewers: ["bob"] });
  await edit(cr, { requested_reviewers: ["cleo"], labels: ["ui"], draft: false });
  for (const [context, state] of [
    "one pending",
    "two success",
    "one success",
    "one success",
    "two failure",
  ].map((each) => each.split(" ")))
    await report(context ?? "", state ?? "");
  await call("PUT", cr, "/auto-merge", { head_commit_sha: sha });
  await edit(cr, { draft: true });
  await call("DELETE", cr, "/auto-merge");
  await call("DELETE", cr, "/approve", undefined, "bob");
  expect((await timelineOf(cr)).slice(1)).toEqual([
    "first added the label bug",
    "first assigned cleo",
    "first requested a review from bob",
    "first removed the label bug",
    "first added the label ui",
    "first withdrew the request for a review from bob",
    "first requested a review from cleo",
    `checks of ${short(sha)} passed`,
    `checks of ${short(sha)} failed`,
    "first turned on auto-merge",
    "first turned off auto-merge: The change request became a draft.",
    "first made it a draft",
  ]);
});

interface Fault {
  what: string;
  act(cr: Cr): Promise<unknown>;
  before?(cr: Cr): Promise<Answer>;
}

/** Each kind of action once, and what it needs before. */
const FAULTS: Fault[] = [
  { what: "a rename", act: (cr) => edit(cr, { title: "x" }) },
  { what: "a draft", act: (cr) => edit(cr, { draft: true }) },
  { what: "a base", act: (cr) => edit(cr, { base_ref: "other" }) },
  { what: "a label", act: (cr) => edit(cr, { add_labels: ["bug"] }) },
  { what: "an assignee", act: (cr) => edit(cr, { add_assignees: ["bob"] }) },
  { what: "a reviewer", act: (cr) => edit(cr, { add_requested_reviewers: ["bob"] }) },
  { what: "an approval", act: (cr) => call("POST", cr, "/approve", undefined, "bob") },
  {
    what: "a withdrawal",
    act: (cr) => call("DELETE", cr, "/approve", undefined, "bob"),
    before: (cr) => call("POST", cr, "/approve", undefined, "bob"),
  },
  {
    what: "auto-merge",
    act: (cr) => call("PUT", cr, "/auto-merge", { head_commit_sha: cr.head_commit_sha }),
  },
  {
    what: "a check",
    act: (cr) => bench.call("POST", `/statuses/${cr.head_commit_sha}`, { body: { state: "success" } }),
  },
  { what: "a close", act: (cr) => call("POST", cr, "/close") },
  {
    what: "a reopening",
    act: (cr) => call("POST", cr, "/reopen"),
    before: (cr) => call("POST", cr, "/close"),
  },
  { what: "a push", act: async (cr) => bench.remote.commit(cr.head_ref, { c: "1\n" }) },
];

/** What is stored of a change request, but for times and comments. */
async function storedOf({ cr_id }: Cr) {
  const [cr] =
    await sql`select status, head_commit_sha, title, draft, base_ref from change_requests where cr_id = ${cr_id}`;
  const tables = ["labels", "people", "approvals", "heads", "events"].map((name) => `change_request_${name}`);
  const counts = [...tables, "auto_merges"].map(
    (table) => sql`select count(*)::int from ${sql(table)} where cr_id = ${cr_id}`,
  );
  const statuses =
    await sql`select count(*)::int from commit_statuses where sha = ${cr?.["head_commit_sha"]}`;
  return [{ ...cr }, ...(await Promise.all(counts)).map(([row]) => row?.["count"]), statuses[0]?.["count"]];
}

test.each(sample(6, FAULTS))(
  "$what and its event are stored together, or neither",
  async ({ act, before }) => {
    bench.rule(asks(9));
    const cr = await bench.open();
    if (before) expect((await before(cr)).status).toBe(200);
    const stored = await storedOf(cr);
    for (const table of ["change_request_events", "project_events"]) {
      await sql.unsafe(`create or replace function refuse() returns trigger as $$ begin raise 'refused'; end $$ language plpgsql;
      create trigger refuse before insert on ${table} for each row execute function refuse()`);
      try {
        await act(cr);
        // a read notices a push
        await call("GET", cr, "/timeline");
      } finally {
        await sql.unsafe(`drop trigger refuse on ${table}`);
      }
      expect(await storedOf(cr)).toEqual(stored);
    }
    await act(cr);
    const events = await eventsOf(cr);
    expect(events.length).toBe((before ? 2 : 1) + 1);
  },
);

test("merging: the method, what was on top of it, the branch, and what reverts it", async () => {
  bench.rule("svc_version = 1\n");
  const cr = await bench.open();
  bench.remote.commit(`${cr.head_ref}-top`, { top: "1\n" }, { from: cr.head_ref });
  const body = { title: "top", head_ref: `${cr.head_ref}-top`, base_ref: cr.head_ref };
  const top = (await bench.call("POST", "/change-requests", { body, token: tokens[AGENT] ?? "" })).body;
  const merged = await call("POST", cr, "/merge", { method: "squash", delete_branch: true }, "bob");
  expect(merged.status).toBe(200);
  const sha = merged.body.merge_commit_sha;
  expect(await timelineOf(cr)).toEqual([
    `first wants to merge "${cr.head_ref}" into "main"`,
    `bob merged it into "main" as ${short(sha)}`,
    `bob deleted the branch "${cr.head_ref}"`,
  ]);
  expect((await eventsOf(cr))[1]).toMatchObject({ method: "squash", commit_sha: sha, branch: "main" });
  expect(await timelineOf(top)).toEqual([
    `${AGENT} wants to merge "${top.head_ref}" into "${cr.head_ref}"`,
    `bob merged #${cr.number}, which changed the base from "${cr.head_ref}" to "main"`,
  ]);
  const revert = (await call("POST", cr, "/revert", {}, "cleo")).body;
  expect((await call("POST", revert, "/merge", {}, "cleo")).status).toBe(200);
  expect((await timelineOf(cr)).slice(3)).toEqual([`cleo reverted it with #${revert.number}`]);
  expect((await timelineOf(revert))[0]).toEndWith(`into "main", to revert #${cr.number}`);
});

test("the merge queue, with why one was taken out", async () => {
  bench.rule('svc_version = 1\n[merge]\nqueue = true\n[checks]\nrequired = ["test"]\n');
  const cr = await bench.open();
  const enqueue = async () => expect((await call("POST", cr, "/merge", {}, "bob")).status).toBe(202);
  await enqueue();
  await call("DELETE", cr, "/queue", undefined, "cleo");
  await enqueue();
  bench.remote.commit(cr.head_ref, { c: "1\n" });
  await described(cr);
  expect((await timelineOf(cr)).slice(1)).toEqual([
    'bob added it to the merge queue of "main"',
    "cleo removed it from the merge queue",
    'bob added it to the merge queue of "main"',
    "somebody pushed 1 commit",
    "svc removed it from the merge queue: Commits were pushed to the branch.",
  ]);
});

test("a branch that a push deletes is recorded where it is the head, and not for an earlier use of its name", async () => {
  bench.rule("svc_version = 1\n");
  const earlier = await bench.open();
  const branch = earlier.head_ref;
  expect((await call("POST", earlier, "/close")).status).toBe(200);
  bench.remote.commit(branch, { again: "1\n" });
  const body = { title: "again", head_ref: branch };
  const cr = (await bench.call("POST", "/change-requests", { body })).body;
  const closed = (await bench.call("POST", "/change-requests", { body: { ...body, base_ref: "other" } }))
    .body;
  expect((await call("POST", closed, "/close")).status).toBe(200);
  const unrelated = await bench.open();
  const url = `${bench.api.url}/v1/git/${bench.project.project_id}.git`;
  const header = `http.extraHeader=Authorization: Bearer ${tokens["bob"]}`;
  const pushed = await runClient(bench.remote.path, "-c", header, "push", url, `:refs/heads/${branch}`);
  expect(pushed.code).toBe(0);
  const said = `bob deleted the branch "${branch}"`;
  expect((await timelineOf(cr)).at(-1)).toBe(said);
  expect((await timelineOf(closed)).at(-1)).toBe(said);
  expect(await timelineOf(earlier)).not.toContain(said);
  expect(await timelineOf(unrelated)).toHaveLength(1);
});

test("a suggestion that is applied, and its push", async () => {
  bench.rule("svc_version = 1\n");
  const cr = await bench.open();
  const comment = { body: "```suggestion\n2\n```", path: cr.head_ref, line: 1 };
  const made = (await call("POST", cr, "/comments", comment, "bob")).body;
  const applied = await call("POST", cr, `/comments/${made.comment_id}/apply`, {}, "cleo");
  const { commit_sha } = applied.body;
  await described(cr);
  expect((await timelineOf(cr)).slice(1)).toEqual([
    `cleo applied a suggestion in ${short(commit_sha)}`,
    "cleo resolved a thread",
    "cleo pushed 1 commit",
  ]);
});

test("threads that are resolved and reopened are recorded once each, and counted", async () => {
  bench.rule("svc_version = 1\n");
  const [cr, other] = [await bench.open(), await bench.open()];
  const made = (await call("POST", cr, "/comments", { body: "a" })).body.comment_id;
  const reply = { body: "b", reply_to: made };
  expect((await call("POST", cr, "/comments", reply, "bob")).status).toBe(201);
  expect((await call("POST", cr, "/comments", { body: "c" }, "bob")).status).toBe(201);
  const counted = async () => {
    const { body } = await bench.call("GET", "/change-requests?limit=200");
    const listed = (id: string) => body.change_requests.find((row: Cr) => row.cr_id === id).open_threads;
    expect((await call("GET", cr, "")).body.change_request.open_threads).toBe(listed(cr.cr_id));
    return [listed(cr.cr_id), listed(other.cr_id)];
  };
  expect(await counted()).toEqual([2, 0]);
  for (const who of ["cleo", "bob"]) await call("POST", cr, `/comments/${made}/resolve`, {}, who);
  expect(await counted()).toEqual([1, 0]);
  for (const who of ["bob", "cleo"]) await call("POST", cr, `/comments/${made}/unresolve`, {}, who);
  expect(await counted()).toEqual([2, 0]);
  const events = (await eventsOf(cr)).filter(({ event }) => event.startsWith("thread_"));
  expect(events.map((event) => [said(event), event.comment_id])).toEqual([
    ["cleo resolved a thread", made],
    ["bob reopened a thread", made],
  ]);
});

test("a comment on a commit that was the head before is no push", async () => {
  bench.rule("svc_version = 1\n");
  const cr = await bench.open();
  const [first, second] = [bench.remote.sha(cr.head_ref), bench.remote.commit(cr.head_ref, { c: "1\n" })];
  await eventsOf(cr);
  // as if it had been anchored before that push was noticed
  await sql`insert into change_request_heads values (${cr.cr_id}, 3, ${first}, ${first}, now())`;
  await sql`update change_request_heads set kept = true where cr_id = ${cr.cr_id}`;
  expect((await call("POST", cr, "/comments", { body: "b", path: cr.head_ref })).status).toBe(201);
  expect((await eventsOf(cr)).filter(({ event }) => event === "pushed")).toMatchObject([{ to: second }]);
});

test("a change request keeps a limited number of events", async () => {
  const cr = await bench.open();
  await sql`insert into change_request_events (cr_id, event, created_at)
    select ${cr.cr_id}, 'closed', now() from generate_series(3, ${EVENTS_MAX})`;
  await edit(cr, { title: "the last" });
  await edit(cr, { title: "one too many" });
  const [last] = await sql`select count(*)::int as count, max(data->>'to') as to from change_request_events
    where cr_id = ${cr.cr_id} and event <> 'opened'`;
  expect(last).toEqual({ count: EVENTS_MAX - 1, to: "the last" });
});
