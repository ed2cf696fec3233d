import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdir, readdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cleanUp } from "../../src/git/mirror/clean-up.ts";
import { maintain, PACKS_MAX } from "../../src/git/mirror/maintain.ts";
import { type Mirror, markComplete } from "../../src/git/mirror/mirror.ts";
import { createHosted, openHosted } from "../../src/git/mirror/store.ts";
import { createEngine, type Engine } from "../../src/git/run/engine.ts";
import { QUIET, runGit, temporary } from "../helpers/git-repo.ts";

const DAY_S = 24 * 3600;
/** So many that packs are combined twice. */
const PUSHES = 2 * PACKS_MAX + 4;

let place: Awaited<ReturnType<typeof temporary>>;
let engine: Engine;
let mirror: Mirror;

beforeAll(async () => {
  place = await temporary();
  engine = await createEngine({ dataDir: place.path, allowPrivate: true, sshKeys: "project", log: QUIET });
});

beforeEach(async () => {
  const id = crypto.randomUUID();
  await createHosted(engine, id, "main");
  const opened = await openHosted(engine, id);
  if (!opened) throw new Error("the repository is not there");
  mirror = opened;
  await maintain(engine, mirror);
});

afterAll(async () => {
  await engine.runner.close();
  await place[Symbol.asyncDispose]();
});

test("many pushes leave few packs, and lose nothing", async () => {
  const counts: number[] = [];
  for (let push = 0; push < PUSHES; push++) {
    await commit(`refs/heads/b${push % 7}`, push);
    await maintain(engine, mirror);
    counts.push((await packs()).length);
  }
  expect(Math.max(...counts)).toBe(PACKS_MAX);
  expect((await git("rev-list", "--all", "--count")).trim()).toBe(`${PUSHES}`);
  await fsck();
});

test("a repack on a full disk leaves no files", async () => {
  for (let push = 0; push <= PACKS_MAX; push++) await commit("refs/heads/main", push);
  const programs = join(place.path, "programs");
  await mkdir(programs);
  await writeFile(
    join(programs, "git"),
    `#!/bin/sh\ntrap '' XFSZ\nulimit -f 0\nexec '${Bun.which("git")}' "$@"\n`,
    { mode: 0o755 },
  );
  const halves = async () =>
    (await readdir(join(mirror.directory, "objects/pack"))).filter((name) => name.includes("tmp"));
  mirror.environment["PATH"] = `${programs}:${mirror.environment["PATH"]}`;
  await maintain(engine, mirror);
  expect(await halves()).not.toEqual([]);
  await cleanUp(mirror);
  expect(await halves()).toEqual([]);
  await fsck();
});

test("a day later everything is repacked: objects reachable from any ref stay; old unreachable ones are removed", async () => {
  const kept = ["refs/heads/main", "refs/tags/v1", "refs/cr/1/head", "refs/svc/saved/x"];
  const commits = new Map<string, string>();
  for (const [index, ref] of [...kept, "refs/heads/old"].entries())
    commits.set(ref, await commit(ref, index));
  const old = commits.get("refs/heads/old") ?? "";
  markComplete(mirror, [...commits.values()]);
  // as a fetch would have written it
  await git("commit-graph", "write", "--reachable", "--split");
  await git("update-ref", "-d", "refs/heads/old");
  await setAge(await packs(), 15 * DAY_S);
  const young = await commit("refs/heads/young", 9);
  await git("update-ref", "-d", "refs/heads/young");

  await maintain(engine, mirror);
  expect(await has(old)).toBe(true);

  await becomeDue();
  await maintain(engine, mirror);
  expect([await has(old), await has(young)]).toEqual([false, true]);
  for (const ref of kept) expect((await git("rev-parse", ref)).trim()).toBe(commits.get(ref) ?? "");
  expect(mirror.complete.size).toBe(0);
  const files = await readdir(join(mirror.directory, "objects/pack"));
  expect(files.filter((name) => /\.(?:bitmap|mtimes)$/.test(name))).toHaveLength(2);
  expect(await packs()).toHaveLength(2);
  expect(await readdir(join(mirror.directory, "refs/heads"))).toEqual([]);
  await git("commit-graph", "verify");
  await fsck();

  const before = await readdir(join(mirror.directory, "objects/pack"));
  await commit("refs/heads/main", 10);
  await maintain(engine, mirror);
  expect(await packs()).toHaveLength(3);
  expect(await readdir(join(mirror.directory, "objects/pack"))).toEqual(expect.arrayContaining(before));
});

test("an empty repository works, and concurrent runs are one", async () => {
  await becomeDue();
  await Promise.all([maintain(engine, mirror), maintain(engine, mirror)]);
  expect(Date.now() - (await stat(markFile())).mtimeMs).toBeLessThan(60_000);
  await fsck();
});

/** A commit on a branch, in a pack of its own, as a push brings it. */
async function commit(ref: string, seed: number): Promise<string> {
  const stream = `commit ${ref}\ncommitter A <a@example.com> ${1_700_000_000 + seed} +0000\ndata 4\nwork\nM 100644 inline f${seed}\ndata 5\n${String(seed).padStart(4)}\n\n`;
  const from = (await git("for-each-ref", "--format=%(refname)", ref)).trim() ? `from ${ref}^0\n` : "";
  await runGit(mirror.directory, ["-c", "fastimport.unpackLimit=1", "fast-import", "--quiet"], {
    stdin: stream.replace("M 100644", `${from}M 100644`),
  });
  return (await git("rev-parse", ref)).trim();
}

async function git(...args: string[]): Promise<string> {
  return (await runGit(mirror.directory, args)).stdout.toString();
}

async function fsck(): Promise<void> {
  await git("fsck", "--full", "--strict", "--no-dangling");
}

async function has(object: string): Promise<boolean> {
  const { code } = await runGit(mirror.directory, ["cat-file", "-e", object], { codes: [0, 1, 128] });
  return code === 0;
}

async function packs(): Promise<string[]> {
  const folder = join(mirror.directory, "objects/pack");
  return (await readdir(folder)).filter((name) => name.endsWith(".pack")).map((name) => join(folder, name));
}

async function becomeDue(): Promise<void> {
  await setAge([markFile()], 2 * DAY_S);
}

function markFile(): string {
  return join(mirror.directory, "svc-maintained");
}

async function setAge(paths: readonly string[], seconds: number): Promise<void> {
  const time = Date.now() / 1000 - seconds;
  for (const path of paths) await utimes(path, time, time);
}
