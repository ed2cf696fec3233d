import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keyOf, mayKeep, type SetupStart } from "../../src/features/sessions/setup/keeper.ts";
import { findKept, keepArchive } from "../../src/features/sessions/setup/kept.ts";

const PROJECT = "00000000-0000-4000-8000-000000000001";
const OTHER = "00000000-0000-4000-8000-000000000002";
const TIP = "a".repeat(40);
const START: SetupStart = {
  projectId: PROJECT,
  config: { setup: { command: "npm ci", timeoutMs: 1 }, build: null, environment: {}, tip: TIP },
  secretsRevision: "1",
  provider: { name: "local", programs: () => "1" },
  isNew: true,
};
const CHECKOUT = { commit: TIP, isClean: true, lockfiles: "1" };
const build = (hash: string) => ({ hash, dockerfile: "Dockerfile", context: () => new ReadableStream() });

describe("the key", () => {
  const { config } = START;
  const changes: [string, Partial<SetupStart>, Partial<typeof CHECKOUT>][] = [
    ["project", { projectId: OTHER }, {}],
    ["command", { config: { ...config, setup: { command: "npm i", timeoutMs: 1 } } }, {}],
    ["image", { config: { ...config, build: build("1") } }, {}],
    ["other image", { config: { ...config, build: build("2") } }, {}],
    ["variables", { config: { ...config, environment: { A: "1" } } }, {}],
    ["secrets", { secretsRevision: "2" }, {}],
    ["provider", { provider: { name: "docker" } }, {}],
    ["programs of the machine", { provider: { name: "local", programs: () => "2" } }, {}],
    ["lockfiles", {}, { lockfiles: "2" }],
  ];
  test("is another one when what the command adds may be", () => {
    const keys = changes.map(([, start, checkout]) =>
      keyOf({ ...START, ...start }, { ...CHECKOUT, ...checkout }),
    );
    expect(new Set([keyOf(START, CHECKOUT), ...keys]).size).toBe(changes.length + 1);
  });
  test("does not depend on the commit, the time limit and the sandbox", () => {
    const setup = { command: "npm ci", timeoutMs: 2 };
    const other = keyOf(
      { ...START, isNew: false, config: { ...config, setup, tip: null } },
      { ...CHECKOUT, commit: "b", isClean: false },
    );
    expect(other).toBe(keyOf(START, CHECKOUT));
  });
});

test.each<[boolean, string, Partial<SetupStart>, Partial<typeof CHECKOUT>]>([
  [true, "a new sandbox at the tip of the default branch", {}, {}],
  [false, "another commit", {}, { commit: "b".repeat(40) }],
  [false, "a changed workspace", {}, { isClean: false }],
  [false, "a sandbox with the work of an earlier one", { isNew: false }, {}],
  [false, "a default branch that does not exist", { config: { ...START.config, tip: null } }, {}],
])("%p: what the command adds is kept of %s", (expected, _, start, checkout) => {
  expect(mayKeep({ ...START, ...start }, { ...CHECKOUT, ...checkout })).toBe(expected);
});

describe("archives", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "svc-kept-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const keyAt = (index: number) => index.toString(16).padStart(64, "0");
  async function* parts(...bytes: Uint8Array[]) {
    yield* bytes;
  }
  const keep = (
    index: number,
    projectId = PROJECT,
    limits = { archiveBytes: 4096, totalBytes: 1024 * 1024 },
  ) => keepArchive(folder, projectId, keyAt(index), parts(Buffer.from([index]), Buffer.alloc(2047)), limits);
  const has = async (projectId: string, index: number) =>
    (await findKept(folder, projectId, keyAt(index))) !== null;
  /** Moves the last use of an archive into the past. */
  const age = (index: number, hours: number) => {
    const at = Date.now() / 1000 - hours * 3600;
    utimesSync(join(folder, PROJECT, `${keyAt(index)}.tar`), at, at);
  };

  test("are found by their project and key only", async () => {
    await keep(1);
    expect([await has(PROJECT, 1), await has(OTHER, 1), await has(PROJECT, 2)]).toEqual([true, false, false]);
    for (const [project, key] of [
      ["..", keyAt(1)],
      [PROJECT, "../x"],
      [PROJECT, ""],
    ] as const)
      expect(findKept(folder, project, key)).rejects.toThrow("an archive has an invalid name");
  });

  test("of a project are four at most: the one that was not used for longest goes", async () => {
    for (const index of [1, 2, 3, 4]) {
      await keep(index);
      age(index, 10 - index);
    }
    expect(await has(PROJECT, 1)).toBe(true);
    await keep(5);
    await keep(1, OTHER);
    expect(await Promise.all([1, 2, 3, 4, 5].map((index) => has(PROJECT, index)))).toEqual([
      ...[true, false, true, true, true],
    ]);
    expect(await has(OTHER, 1)).toBe(true);
  });

  test("are removed after a month without a use, and when all are too large", async () => {
    await keep(1);
    await keep(2);
    age(1, 24 * 31);
    age(2, 24 * 29);
    await keep(3);
    expect(readdirSync(join(folder, PROJECT)).length).toBe(2);
    await keep(4, OTHER, { archiveBytes: 4096, totalBytes: 4096 });
    expect([await has(PROJECT, 2), await has(PROJECT, 3), await has(OTHER, 4)]).toEqual([false, true, true]);
  });

  test("that are too large, incomplete or broken off leave nothing", async () => {
    async function* brokenOff() {
      yield Buffer.alloc(2048);
      throw new Error("broken off");
    }
    const limits = { archiveBytes: 4096, totalBytes: 1024 * 1024 };
    for (const source of [
      parts(Buffer.alloc(4097)),
      parts(Buffer.alloc(2048), Buffer.from("x")),
      parts(Buffer.alloc(1023)),
      brokenOff(),
    ])
      await expect(keepArchive(folder, PROJECT, keyAt(1), source, limits)).rejects.toThrow();
    expect(readdirSync(join(folder, PROJECT))).toEqual([]);
  });
});
