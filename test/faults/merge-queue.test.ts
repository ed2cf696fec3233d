import { afterEach, expect, test } from "bun:test";
import type { MergeMethod } from "../../src/contract/merge-method.ts";
import { MERGE_STEPS, QUEUE_STEPS } from "../../src/deps.ts";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import {
  type Answer,
  type Api,
  caller,
  databaseFor,
  makeFolder,
  spawnServer,
  startApi,
} from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type QueueCi, startQueueCi } from "../helpers/queue-ci.ts";
import { generator, SEED, sample, share } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";
import { serverCommand } from "../helpers/server-command.ts";
import { until } from "../helpers/until.ts";

const METHODS = ["merge", "squash", "rebase", "ff-only"] as const satisfies MergeMethod[];
const STEPS = [...QUEUE_STEPS, ...MERGE_STEPS.filter((step) => step !== "commit-written")];
const MANIFEST = 'svc_version = 1\n[merge]\nqueue = true\n[checks]\nrequired = ["test"]\n';

/** Undone after each test, the newest first. */
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

type Cr = Answer["body"];
type Call = Api["call"];

interface Dying {
  call: Call;
  kill(): void;
  exited: Promise<unknown>;
}

/** A repository with a queue, and what outlives its servers. */
interface Bench {
  remote: Remote;
  dataDir: string;
  base: string;
  /** The change requests of the project, which the first server makes. */
  path: string;
  ci: QueueCi;
  /** Starts a server that dies when it has passed a step this many times. */
  startDying(step: string, after: number): Promise<Dying>;
  start(env?: Record<string, string>): Promise<Api>;
}

function setUp(passes: (files: ReadonlySet<string>) => boolean): Bench {
  const remote = new Remote();
  undo.push(() => remote.remove());
  const base = remote.commit("main", { "svc.toml": MANIFEST, a: "1\n" });
  const dataDir = makeFolder();
  const ci = startQueueCi(remote, passes);
  undo.push(() => ci.stop());
  const bench: Bench = {
    ...{ remote, dataDir, base, ci, path: "" },
    async startDying(step, after) {
      const databaseUrl = await databaseFor(dataDir);
      const { child, url } = await spawnServer(serverCommand("dying"), {
        SVC_PORT: "0",
        SVC_DATA_DIR: dataDir,
        SVC_ALLOW_PRIVATE_REPOS: "1",
        SVC_LOG_LEVEL: "silent",
        TEST_DIE_AT: step,
        TEST_DIE_AFTER: String(after),
        ...(databaseUrl && { DATABASE_URL: databaseUrl }),
      });
      undo.push(() => child.kill("SIGKILL"));
      const admin = { verb: "token", email: "first@example.com", name: "t" } as const;
      const call = caller(url, (await sendAdminCommand(dataDir, admin)) ?? "");
      await use(call);
      return {
        call,
        kill: () => child.kill("SIGKILL"),
        exited: child.exited.then(() => expect(child.signalCode).toBe("SIGKILL")),
      };
    },
    async start(env = {}) {
      const api = await startApi({ dataDir, env });
      undo.push(() => api.stop());
      await use(api.call);
      return api;
    },
  };
  return bench;

  async function use(call: Call): Promise<void> {
    if (bench.path === "") {
      const made = await call("POST", "/v1/projects", { body: { name: "p", repo_url: remote.url } });
      bench.path = `/v1/projects/${made.body.project_id}/change-requests`;
    }
    ci.reportTo(call, bench.path.replace("/change-requests", ""));
  }
}

async function open({ remote, path }: Bench, call: Call, head: string, files: Record<string, string>) {
  remote.commit(head, files, { from: "main" });
  const made = await call("POST", path, { body: { title: head, head_ref: head } });
  expect(made.status).toBe(201);
  return made.body.number as number;
}

const read = async ({ path }: Bench, { call }: Pick<Api, "call">, number: number): Promise<Cr> =>
  (await call("GET", `${path}/${number}`)).body.change_request;

/** Whether the queue has nothing more to do with them. */
const areSettled = (bench: Bench, api: Pick<Api, "call">, numbers: readonly number[]) =>
  until("all have landed or left", async () => {
    for (const number of numbers) {
      const { status, queue } = await read(bench, api, number);
      if (status === "open" && queue?.state !== "removed") return false;
    }
    return bench.remote.commitsBelow("svc-queue").length === 0;
  });

const rows = METHODS.flatMap((method) => STEPS.map((step) => [method, step] as const));

test.each(sample(1, rows))(
  "%s, killed after %s: the next server lands what was tested, once",
  async (method, step) => {
    const bench = setUp(() => true);
    const { remote, base } = bench;
    const dying = await bench.startDying(step, 0);
    const number = await open(bench, dying.call, "work", { b: "1\n" });
    const moved = method === "ff-only" ? base : remote.commit("main", { c: "1\n" });
    const queue = (call: Call) => call("POST", `${bench.path}/${number}/merge`, { body: { method } });
    // the server may die before it has answered
    await queue(dying.call).catch(() => {});
    await dying.exited;
    const api = await bench.start();
    await areSettled(bench, api, [number]);
    const landed = await read(bench, api, number);
    expect(landed).toMatchObject({ status: "merged", merge_commit_sha: remote.sha("main"), queue: null });
    expect(bench.ci.results.get(remote.sha("main"))).toBe(true);
    expect(remote.git("rev-list", "--first-parent", "--count", `${moved}..main`).trim()).toBe("1");
    expect(await queue(api.call)).toMatchObject({ status: 409, body: { code: "not_open" } });
  },
);

/** What is wrong with a change request, by the files that it adds: CI decides by the files of the merged result. */
type Kind = "good" | "bad" | "left" | "right";
const isGreen = (files: ReadonlySet<string>) =>
  [...files].every((file) => !file.startsWith("bad-")) && !(files.has("left") && files.has("right"));

test("a queue with kills, pushes to the base, failures and faults of two together", async () => {
  const random = generator(SEED);
  const count = share(6, 24);
  const bench = setUp(isGreen);
  const { remote } = bench;
  const pushed = new Set<string>([bench.base]);
  const wanted = Array.from(
    { length: count },
    (_, index): { kind: Kind; head: string; method: MergeMethod } => ({
      kind: index === 2 ? "left" : index === 5 ? "right" : random(5) === 0 ? "bad" : "good",
      head: `work-${index}`,
      method: METHODS[random(3)] ?? "merge",
    }),
  );
  const numbers = new Map<number, (typeof wanted)[number]>();
  const queue = async (call: Call) => {
    for (const [number, { method }] of numbers)
      await call("POST", `${bench.path}/${number}/merge`, { body: { method } });
  };
  const push = () => void pushed.add(remote.commit("main", { [`pushed-${pushed.size}`]: "1\n" }));

  const first = await bench.start();
  for (const each of wanted) {
    const { kind, head } = each;
    const files = {
      [head]: "1\n",
      [kind === "good" ? `${head}-too` : kind === "bad" ? `bad-${head}` : kind]: "1\n",
    };
    numbers.set(await open(bench, first.call, head, files), each);
  }
  await queue(first.call);
  await first.stop({ keepData: true });
  undo.pop();

  for (let kill = 0; kill < share(1, 3); kill++) {
    const step = STEPS[1 + random(STEPS.length - 1)] ?? "pushed";
    const dying = await bench.startDying(step, random(2));
    push();
    // the queue may have landed everything before this server reaches its step
    void areSettled(bench, dying, [...numbers.keys()]).then(dying.kill, () => {});
    await dying.exited;
  }
  const api = await bench.start();
  push();
  // those whose request met a server that died
  await areSettled(bench, api, [...numbers.keys()]);

  const ends = await Promise.all([...numbers.keys()].map((number) => read(bench, api, number)));
  for (const { number, status, queue: left, merge_commit_sha: sha } of ends) {
    const { kind, head } = numbers.get(number) ?? { kind: "good", head: "" };
    if (kind === "good") expect([head, status]).toEqual([head, "merged"]);
    if (kind === "bad") expect([head, status]).toEqual([head, "open"]);
    if (status === "merged") expect(bench.ci.results.get(sha)).toBe(true);
    else expect(left.reason).toContain('The required check "test" failed');
    const added = remote.git("log", "--first-parent", "--diff-filter=A", "--format=%H", "main", "--", head);
    expect(added).toBe(status === "merged" ? `${sha}\n` : "");
  }
  expect(
    ends.filter(
      ({ number, status }) => /left|right/.test(numbers.get(number)?.kind ?? "") && status === "merged",
    ),
  ).toHaveLength(1);
  const history = remote.git("rev-list", "--first-parent", "main").trim().split("\n");
  expect(history.filter((sha) => !pushed.has(sha) && bench.ci.results.get(sha) !== true)).toEqual([]);
  expect(new Set(history).isSupersetOf(pushed)).toBe(true);
  expect(remote.git("for-each-ref")).not.toContain("svc-queue");
});

const both = needs("a real Postgres", POSTGRES);

both("two servers at once: each lands once, and what lands was tested", async () => {
  const key = Buffer.alloc(32, 7).toString("base64");
  const bench = setUp(isGreen);
  const { remote, dataDir } = bench;
  const databaseUrl = (await databaseFor(dataDir)) ?? "";
  const one = await bench.start({ SVC_MASTER_KEY: key });
  const two = await startApi({ env: { SVC_MASTER_KEY: key, DATABASE_URL: databaseUrl } });
  undo.push(() => two.stop());
  const numbers: number[] = [];
  for (let index = 0; index < share(3, 24); index++) {
    const head = `work-${index}`;
    const number = await open(bench, one.call, head, { [index % 3 === 1 ? `bad-${head}` : head]: "1\n" });
    const method = METHODS[index % 3];
    const api = index % 2 === 0 ? one : two;
    const options = { token: one.token, body: { method } };
    expect((await api.call("POST", `${bench.path}/${number}/merge`, options)).status).toBe(202);
    numbers.push(number);
  }
  await areSettled(bench, one, numbers);
  const ends = await Promise.all(numbers.map((number) => read(bench, one, number)));
  expect(ends.map(({ status, queue }) => [status, queue?.reason ?? null])).toEqual(
    numbers.map((_, index) =>
      index % 3 === 1 ? ["open", expect.stringContaining('"test" failed')] : ["merged", null],
    ),
  );
  const history = remote.git("rev-list", "--first-parent", `${bench.base}..main`).trim().split("\n");
  expect(history.toReversed()).toEqual(
    ends.flatMap(({ merge_commit_sha: sha }) => (sha === null ? [] : [sha])),
  );
  for (const sha of history) expect(bench.ci.results.get(sha)).toBe(true);
});
