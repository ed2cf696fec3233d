import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TEST_LIMIT_MS } from "../../scripts/test/limit.ts";
import { PUSH_STEPS } from "../../src/git/run/options.ts";
import { refsOf, runClient, setRefs } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { descendantsOf, killIfThere } from "../helpers/processes.ts";
import { fc } from "../helpers/property.ts";
import {
  commitBytes,
  files,
  KINDS,
  type PushBench,
  type Pushing,
  type PushPlace,
  startPushBench,
} from "../helpers/push-bench.ts";
import { sample, share } from "../helpers/random.ts";
import type { Ran } from "../helpers/run-command.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES && process.platform === "linux");

/** The host has changed its refs and has not said so yet; the other steps are checkpoints of svc's. */
const HOST_TOOK = "host-took";
const STEPS = [...PUSH_STEPS, HOST_TOOK] as const;
type Step = (typeof STEPS)[number];
const VICTIMS = ["server", "git", "client"] as const;

/** Pushes that are killed at a random time. */
const RUNS = share(1, 2000);

const MAIN = "refs/heads/main";
const NEW = "refs/heads/new";
const GONE = "refs/heads/gone";
const TAG = "refs/tags/v1";

let bench: PushBench;
let first: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startPushBench();
  first = await commitBytes(bench.work, null, 100);
  for (const { directory, remote } of Object.values(bench.places)) {
    await bench.work.git("push", "--quiet", directory, `${first}:${MAIN}`);
    remote?.hook("post-receive", "touch took; while [ -e halt ]; do sleep 0.02; done");
  }
});

afterAll(() => bench?.stop());

/** Where git processes of the server are at work; elsewhere `dies` ends them. */
const GIT_WORKS: readonly Step[] = ["pack-begun", HOST_TOOK];

const rows = KINDS.flatMap((kind) =>
  STEPS.filter((step) => kind !== "hosted" || (step !== HOST_TOOK && step !== "forwarded")).flatMap((step) =>
    VICTIMS.filter((victim) => victim !== "git" || GIT_WORKS.includes(step)).map(
      (victim) => [kind, step, victim] as const,
    ),
  ),
).map((row, index) => [...row, index % 2 === 0] as const);

test.each(sample(2, rows))(
  "%s repository, %s: the %s is killed (atomic: %p), and all agree",
  async (kind, step, victim, atomic) => {
    const place = bench.places[kind];
    const push = await prepare(place, atomic);
    const pushing = await pushUntil(place, step, push.args);
    await killVictim(victim, pushing);
    if (victim === "server") {
      await bench.start();
      // also the push that waits for its host has ended
      expect(bench.orphans()).toEqual([]);
    } else if (step !== HOST_TOOK) bench.go();
    rmSync(join(place.directory, "halt"), { force: true });
    await settles(place, push, await pushing.ended);
  },
);

const DYING = [
  ["hosted", "index-pack", "before", "svc's git was stopped"],
  ["hosted", "index-pack", "after", "svc's git was stopped"],
  ["hosted", "index-pack", "full", "File too large"],
  // the first one checks the push, or before it what the repository holds
  ["hosted", "rev-list", "before", /svc's git was stopped|Git gave no answer while checking the repository/],
  ["hosted", "cat-file", "before", "Git gave no answer"],
  ["hosted", "update-ref", "before", null],
  ["hosted", "update-ref", "while", null],
  ["hosted", "update-ref", "half", null],
  ["hosted", "update-ref", "after", null],
  ["hosted", "update-ref", "full", "couldn't write '/refs/heads/main.lock'"],
  ["http", "index-pack", "full", "File too large"],
  ["http", "remote-http", "before", "could not be reached"],
  ["http", "push", "before", "the git host did not accept it"],
  // a completed push is reported as completed, whichever process was killed
  ["http", "push", "after", null],
  ["http", "update-ref", "before", null],
  ["http", "update-ref", "after", null],
  ["http", "update-ref", "full", null],
] as const;

const HOW = {
  before: "killed before its work",
  while: "killed while it holds locks",
  half: "killed halfway through its work",
  after: "killed after its work",
  full: "out of disk",
} as const;

test.each(sample(1, DYING).map(([kind, verb, how, says]) => [kind, verb, HOW[how], says, how] as const))(
  "%s repository: git %s is %s, the client gets %p, and all agree",
  async (kind, verb, _, says, how) => {
    const place = bench.places[kind];
    const push = await prepare(place, how === "full" || how === "half");
    bench.failNext(verb, how);
    const told = await bench.push(place, ...push.args).ended;
    bench.failNoMore();
    expect(told.code).toBe(says === null ? 0 : 1);
    expect(told.err).toMatch(says ?? "");
    expect(told.err).not.toContain(bench.dataDir);
    await settles(place, push, told);
  },
);

test("a push to a host that hangs ends when its git is killed, even if git's children survive", async () => {
  const place = bench.places.http;
  const push = await prepare(place, false);
  const pushing = await pushUntil(place, HOST_TOOK, push.args);
  for (const { pid, command } of descendantsOf(bench.pid()))
    if (command.includes("git push --porcelain")) killIfThere(pid);
  const told = await pushing.ended;
  expect(told).toMatchObject({ code: 0 });
  expect(existsSync(join(place.directory, "halt"))).toBe(true);
  rmSync(join(place.directory, "halt"));
  await settles(place, push, told);
});

test(
  "host, mirror and client agree after any of the processes is killed at any moment",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...KINDS),
        fc.constantFrom(...VICTIMS),
        fc.integer({ min: 0, max: 250 }),
        fc.boolean(),
        async (kind, victim, ms, atomic) => {
          const place = bench.places[kind];
          const push = await prepare(place, atomic);
          const pushing = bench.push(place, ...push.args);
          await Bun.sleep(ms);
          await killVictim(victim, pushing);
          if (victim === "server") await bench.start();
          await settles(place, push, await pushing.ended);
        },
      ),
      { numRuns: RUNS, endOnFailure: true },
    );
  },
  Math.max(TEST_LIMIT_MS, RUNS * 10_000),
);

async function killVictim(victim: (typeof VICTIMS)[number], pushing: Pushing): Promise<void> {
  if (victim === "server") await bench.kill();
  if (victim === "client") pushing.kill();
  if (victim === "git") for (const { pid } of descendantsOf(bench.pid())) killIfThere(pid);
}

type Refs = Record<string, string>;

interface Push {
  before: Refs;
  after: Refs;
  args: string[];
  atomic: boolean;
}

/** Refs as they were and as a push wants them. */
async function prepare(place: PushPlace, atomic: boolean): Promise<Push> {
  await bench.start();
  rmSync(join(place.directory, "halt"), { force: true });
  await setRefs(place.directory, { [MAIN]: first, [GONE]: first });
  const next = await commitBytes(bench.work, first, 600_000);
  const after = { [MAIN]: next, [NEW]: next, [TAG]: next };
  const args = [
    ...(atomic ? ["--atomic"] : []),
    ...Object.entries(after).map(([ref, id]) => `${id}:${ref}`),
    `:${GONE}`,
  ];
  return { before: { [MAIN]: first, [GONE]: first }, after, args, atomic };
}

async function pushUntil(place: PushPlace, step: Step, args: string[]): Promise<Pushing> {
  if (step !== HOST_TOOK) {
    const reached = bench.haltAt(step);
    const pushing = bench.push(place, ...args);
    await Promise.race([reached, pushing.ended.then(({ err }) => Promise.reject(new Error(err)))]);
    return pushing;
  }
  rmSync(join(place.directory, "took"), { force: true });
  writeFileSync(join(place.directory, "halt"), "");
  const pushing = bench.push(place, ...args);
  await until("the host took it", () => existsSync(join(place.directory, "took")));
  return pushing;
}

/** The promise: whatever was killed, host, copy and client agree; one more push brings everything; nothing is left. */
async function settles(place: PushPlace, { before, after, args, atomic }: Push, told: Ran): Promise<void> {
  await bench.quiet();
  // a host on this disk is one of the git processes that were killed; its locks are its operator's to remove
  for (const name of files(place.directory).filter((file) => place.kind === "file" && file.endsWith(".lock")))
    rmSync(join(place.directory, name));
  const held = await refsOf(place.directory);
  if (told.code === 0) expect(held).toEqual(after);
  for (const ref of new Set([...Object.keys(before), ...Object.keys(after), ...Object.keys(held)]))
    expect(held[ref] === before[ref] || held[ref] === after[ref]).toBe(true);
  if (atomic || place.kind === "hosted") expect([before, after]).toContainEqual(held);
  expect(await served(place)).toEqual(held);

  const again = await bench.push(place, ...args).ended;
  expect(again).toMatchObject({ code: 0 });
  expect(await refsOf(place.directory)).toEqual(after);
  expect(await served(place)).toEqual(after);
  for (const directory of new Set([place.directory, place.copy])) await isWhole(directory);
  await until(
    () =>
      `nothing is left: ${bench.leftovers()}; at work: ${descendantsOf(bench.pid()).map(({ command }) => command)}`,
    () => bench.leftovers().length === 0,
  );
}

/** `git fsck` finds nothing; asked again, as the server may be repacking what it reads. */
async function isWhole(directory: string): Promise<void> {
  let said = "";
  const fsck = async () => {
    const ran = await runClient(directory, "fsck", "--full", "--strict", "--no-dangling");
    said = ran.out + ran.err;
    return ran.code === 0 && !/error|missing|broken/.test(said);
  };
  await until("git fsck finds nothing", fsck).catch(() => expect(said).toBe(""));
}

/** What a client of the gateway sees. */
async function served(place: PushPlace): Promise<Refs> {
  const { code, out, err } = await runClient(bench.work.directory, "ls-remote", "--refs", bench.url(place));
  if (code !== 0) throw new Error(err);
  const lines = out.split("\n").filter(Boolean);
  return Object.fromEntries(lines.map((line) => line.split("\t").reverse()));
}
