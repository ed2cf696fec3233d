import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import { MERGE_STEPS, type MergeStep } from "../../src/deps.ts";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { type Answer, caller, databaseFor, makeFolder, spawnServer, startApi } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { sample, share } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";
import { asks, mergePause, type ReviewBench, startReviews } from "../helpers/reviewers.ts";
import { serverCommand } from "../helpers/server-command.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const pause = mergePause();
let bench: ReviewBench;
let bob: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews({ deps: pause.deps });
  bob = await bench.member("bob@example.com");
});
afterEach(() => pause.clear());
afterAll(() => bench?.stop());

type Cr = Answer["body"];
const call = (method: string, cr: Cr, rest = "", body?: unknown, token = bench.api.token) =>
  bench.call(method, `/change-requests/${cr.number}${rest}`, { token, ...(body !== undefined && { body }) });
const get = async (cr: Cr): Promise<Cr> => (await call("GET", cr)).body.change_request;
/** Reads the row: a request lists the branches of the host each time. */
const isMerged = async ({ cr_id }: Cr): Promise<boolean> =>
  (await bench.sql`select from change_requests where cr_id = ${cr_id} and status = 'merged'`).length > 0;
const untilMerged = (cr: Cr) => until(`#${cr.number} is merged`, () => isMerged(cr));
const enable = (cr: Cr, token?: string) =>
  call("PUT", cr, "/auto-merge", { head_commit_sha: bench.remote.sha(cr.head_ref) }, token);
const moveBase = () => void bench.remote.commit("main", { [crypto.randomUUID()]: "1\n" });

const disable = (cr: Cr) => call("DELETE", cr, "/auto-merge");
const draft = (cr: Cr) => call("PATCH", cr, "", { draft: true });
const close = (cr: Cr) => call("POST", cr, "/close");
const request = (cr: Cr) => call("POST", cr, "/request-changes", { body: "Why?" }, bob);
const leave = () => bench.leave("bob@example.com");
const withBase = (act: (cr: Cr) => unknown) => async (cr: Cr) => {
  moveBase();
  await act(cr);
};

/** What happens between two steps of the merge that a person, or bob, has asked for, and what comes of it. */
const rows: [
  step: MergeStep,
  what: string,
  act: (cr: Cr) => unknown,
  outcome: "merged" | "off" | "waits",
  asker: "owner" | "bob",
][] = [
  ["commit-written", "nothing", () => {}, "merged", "owner"],
  ["commit-written", "it is turned off", disable, "off", "owner"],
  ["commit-written", "it becomes a draft", draft, "off", "owner"],
  ["commit-written", "it is closed", close, "off", "owner"],
  ["commit-written", "the person leaves", leave, "off", "bob"],
  ["commit-written", "changes are requested", request, "waits", "owner"],
  ["commit-written", "the base moves", moveBase, "merged", "owner"],
  ["intent-recorded", "it is turned off, too late", disable, "merged", "owner"],
  ["intent-recorded", "the base moves, and it is turned off", withBase(disable), "off", "owner"],
  ["intent-recorded", "the base moves, and it becomes a draft", withBase(draft), "off", "owner"],
  ["intent-recorded", "the base moves, and the person leaves", withBase(leave), "off", "bob"],
  ["intent-recorded", "the base moves", moveBase, "merged", "owner"],
];

/** Each run draws a row of each outcome, and one in which the person who asked has left. */
const kindOf = ([, , , outcome, asker]: (typeof rows)[number]) => `${outcome} ${asker}`;
const drawn = [...new Set(rows.map(kindOf))].flatMap((kind) =>
  sample(
    1,
    rows.filter((row) => kindOf(row) === kind),
  ),
);

test.each(drawn)(
  "at %s %s: what turns auto-merge off comes before the merge, or too late",
  async (step, _, act, outcome, asker) => {
    bench.rule(asks(0));
    const cr = await bench.open();
    // the merge writes a commit of its own
    moveBase();
    const base = bench.remote.sha("main");
    const acted = Promise.withResolvers<void>();
    pause.at(step, async () => {
      await act(cr);
      acted.resolve();
    });
    expect((await enable(cr, asker === "bob" ? bob : undefined)).status).toBe(200);
    await acted.promise;
    if (outcome === "merged") {
      await untilMerged(cr);
      expect((await get(cr)).status).toBe("merged");
    } else {
      // another one is merged after this try has ended
      const other = await bench.open();
      await enable(other);
      await untilMerged(other);
      const now = await get(cr);
      expect(now.status).not.toBe("merged");
      if (outcome === "waits") expect(now.auto_merge).toMatchObject({ enabled: true });
      else await until("it is off", async () => (await get(cr)).auto_merge?.enabled !== true);
      expect((await get(cr)).merged_at).toBeNull();
    }
    const merges = bench.remote.git("log", "--format=%s", `${base}..main`).split("\n");
    const own = merges.filter((subject) => subject.startsWith(`Merge CR #${cr.number}:`));
    expect(own).toHaveLength(outcome === "merged" ? 1 : 0);
    if (asker === "bob") bob = await bench.member("bob@example.com");
  },
);

test("asked for, and merged by hand at the same time: merged once", async () => {
  bench.rule(asks(0));
  for (let turn = 0; turn < share(1, 4); turn++) {
    const cr = await bench.open();
    moveBase();
    const base = bench.remote.sha("main");
    const [, ...byHand] = await Promise.all([
      enable(cr),
      ...Array.from({ length: 3 }, () => call("POST", cr, "/merge")),
    ]);
    await untilMerged(cr);
    expect(byHand.filter(({ status }) => status === 200).length).toBeLessThan(2);
    expect(bench.remote.git("rev-list", "--merges", "--count", `${base}..main`).trim()).toBe("1");
    expect((await get(cr)).auto_merge).toBeNull();
  }
});

test.each(sample(1, MERGE_STEPS))("killed after %s: the next server merges it, once", async (step) => {
  const remote = new Remote();
  remote.commit("main", { a: "1\n", b: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  remote.commit("main", { b: "2\n" });
  const base = remote.sha("main");
  const dataDir = makeFolder();
  const databaseUrl = await databaseFor(dataDir);
  const { child, url } = await spawnServer(serverCommand("dying"), {
    SVC_PORT: "0",
    SVC_DATA_DIR: dataDir,
    SVC_ALLOW_PRIVATE_REPOS: "1",
    SVC_LOG_LEVEL: "silent",
    TEST_DIE_AT: step,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
  });
  try {
    const token = await sendAdminCommand(dataDir, { verb: "token", email: "first@example.com", name: "t" });
    const ask = caller(url, token ?? "");
    const project = (await ask("POST", "/v1/projects", { body: { name: "p", repo_url: remote.url } })).body;
    const path = `/v1/projects/${project.project_id}/change-requests`;
    await ask("POST", path, { body: { title: "t", head_ref: "work" } });
    const body = { head_commit_sha: remote.sha("work"), method: "squash", message: "Once" };
    // the server may die before it has answered
    await ask("PUT", `${path}/1/auto-merge`, { body }).catch(() => {});
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    const api = await startApi({ dataDir });
    try {
      const read = async () => (await api.call("GET", `${path}/1`)).body.change_request;
      await until("main has it", () => remote.sha("main") !== base);
      await until("it is merged", async () => (await read()).status === "merged");
      expect(await read()).toMatchObject({
        merge_method: "squash",
        merge_commit_sha: remote.sha("main"),
        merger: { kind: "user", name: "first" },
        auto_merge: null,
      });
      expect(remote.git("log", "--format=%s", `${base}..main`)).toBe("Once\n");
    } finally {
      await api.stop();
    }
  } finally {
    child.kill("SIGKILL");
    remote.remove();
  }
});
