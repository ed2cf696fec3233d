import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Git, Repository } from "../../src/git/git.ts";
import { createRepository, createTestGit, temporary } from "../helpers/git-repo.ts";
import { edit, ROWS, rowCommits, TOPOLOGY, TOPOLOGY_ROWS } from "../helpers/scenarios.ts";

let git: Git;
let repo: Repository;
let ids: Record<string, string>;
let cleanUp: () => Promise<void>;

beforeAll(async () => {
  const directory = await temporary();
  const upstream = await createRepository(`${directory.path}/up`);
  ids = await upstream.write([...ROWS.flatMap(rowCommits), ...TOPOLOGY]);
  const engine = await createTestGit({ dataDir: `${directory.path}/data` });
  git = engine.git;
  repo = engine.repo(upstream.url);
  expect(await git.ensureCommits(repo, Object.values(ids))).toBe(true);
  cleanUp = async () => {
    await git.close();
    await directory[Symbol.asyncDispose]();
  };
});

afterAll(() => cleanUp());

test.each(ROWS)("$name", async ({ name, was, conflicts }) => {
  const verdict = await git.compare(repo, id(`${name}: base`), id(`${name}: head`));
  expect(verdict).toEqual({
    mergeBase: was ? id(`${name}: was`) : null,
    isUpToDate: false,
    canMerge: conflicts === null,
    canFastForward: false,
    conflicts: conflicts ?? [],
  });
});

test.each(TOPOLOGY_ROWS)("%s", async (_name, base, head, expected) => {
  expect(await git.compare(repo, id(base), id(head))).toMatchObject(expected);
  const { canMerge: _can, conflicts: _list, ...relation } = await git.compare(repo, id(base), id(head));
  expect(await git.relate(repo, id(base), id(head))).toEqual(relation);
  expect(await git.isAncestor(repo, id(base), id(head))).toBe(relation.canFastForward || base === head);
});

test("a comparison does not write to the mirror", async () => {
  const before = await sizes();
  await git.compare(repo, id("distant lines: base"), id("distant lines: head"));
  expect(await sizes()).toEqual(before);
});

test("a clean verdict and a written merge agree, and writing is repeatable", async () => {
  const request = {
    base: id("distant lines: base"),
    head: id("distant lines: head"),
    message: 'Merge "ünï"\n\nno newline, $(id) at the end',
    identity: { name: "svc", email: "no-reply@svc.invalid" },
    date: new Date(1_700_000_000_999),
  };
  const first = await git.writeMerge(repo, request);
  expect(await git.writeMerge(repo, request)).toEqual(first);
  if (!("commit" in first)) throw new Error("it should be clean");
  const file = await git.readFile(repo, first.commit, "f", 1000);
  expect(Buffer.from(file ?? []).toString()).toBe(edit(1, "a", edit(9, "b")));
  const raw = Bun.spawnSync([
    "git",
    "-C",
    `${mirrorPath()}`,
    "cat-file",
    "commit",
    first.commit,
  ]).stdout.toString();
  const person = "svc <no-reply@svc.invalid> 1700000000 +0000";
  expect(raw.slice(raw.indexOf("\n") + 1)).toBe(
    `parent ${request.base}\nparent ${request.head}\nauthor ${person}\ncommitter ${person}\n\n${request.message}`,
  );
  const conflict = { ...request, base: id("same line: base"), head: id("same line: head") };
  expect(await git.writeMerge(repo, conflict)).toEqual({ conflicts: ["f"] });
  expect(git.writeMerge(repo, { ...request, message: "a\0b" })).rejects.toThrow(TypeError);
  const unrelated = {
    ...request,
    base: id("unrelated histories: base"),
    head: id("unrelated histories: head"),
  };
  expect(git.writeMerge(repo, unrelated)).rejects.toMatchObject({ code: "unrelated_histories" });
});

function mirrorPath(): string {
  return `${new URL(`${repo.url}`).href.slice("file://".length, -"up".length)}data/mirrors/${repo.id}.git`;
}

async function sizes(): Promise<string[]> {
  const names = await Array.fromAsync(new Bun.Glob("**").scan({ cwd: mirrorPath(), dot: true }));
  return names.sort();
}

function id(name: string): string {
  const found = ids[name];
  if (!found) throw new Error(`no commit ${name}`);
  return found;
}
