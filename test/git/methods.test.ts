import { afterAll, beforeAll, expect, test } from "bun:test";
import { REBASE_COMMITS_MAX } from "../../src/contract/limits.ts";
import type { Git, Repository } from "../../src/git/git.ts";
import {
  createRepository,
  createTestGit,
  type Files,
  runGit,
  type TestRepository,
  temporary,
} from "../helpers/git-repo.ts";

let git: Git;
let repo: Repository;
let upstream: TestRepository;
let mirror: string;
let cleanUp: () => Promise<void>;
const ids: Record<string, string> = {};

const REQUEST = {
  identity: { name: "Mia Müller", email: "mia@example.com" },
  date: new Date(1_700_000_000_999),
  message: "m",
};
const LINES = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

beforeAll(async () => {
  const directory = await temporary();
  upstream = await createRepository(`${directory.path}/up`);
  const engine = await createTestGit({ dataDir: `${directory.path}/data` });
  git = engine.git;
  repo = engine.repo(upstream.url);
  mirror = `${directory.path}/data/mirrors/${repo.id}.git`;
  const a = (files: Files): Files => ({ f: LINES, ...files });
  const at = (name: string, files: Files, ...parents: string[]) => ({ name, branch: name, files, parents });
  await write([
    at("root", { f: LINES }),
    at("base", a({ b: "1" }), "root"),
    at("one", a({ x: "1" }), "root"),
    at("two", a({ x: "2" }), "one"),
    at("picked", a({ b: "1", x: "1" }), "base"),
    at("reverted", a({ b: "1" }), "picked"),
    at("evil merge", a({ b: "1", x: "2", evil: "1" }), "two", "base"),
    at("same", a({ b: "1" }), "root"),
    at("there and back", a({}), "two"),
    at("empty", a({}), "root"),
    at("merged", a({ b: "1", x: "2" }), "two", "base"),
    at("on top", a({ b: "1", x: "3" }), "merged"),
    at("conflict", a({ b: "2", x: "2" }), "two"),
    at("rules", a({ ".gitattributes": "b merge=union\n" }), "root"),
    at("rules and b", a({ ".gitattributes": "b merge=union\n", b: "2" }), "rules"),
    ...Array.from({ length: REBASE_COMMITS_MAX + 1 }, (_, index) => {
      const before = index === 0 ? "root" : `many ${index - 1}`;
      return { name: `many ${index}`, files: a({}), parents: [before] };
    }),
  ]);
  cleanUp = async () => {
    await git.close();
    await directory[Symbol.asyncDispose]();
  };
});

afterAll(() => cleanUp());

async function write(commits: Parameters<TestRepository["write"]>[0]): Promise<void> {
  Object.assign(
    ids,
    await upstream.write(commits.map((each) => ({ ...each, branch: each.name.replaceAll(" ", "-") }))),
  );
  expect(await git.ensureCommits(repo, Object.values(ids))).toBe(true);
}

const between = (base: string, head: string) => ({ ...REQUEST, base: id(base), head: id(head) });
const show = async (...args: string[]) =>
  (await runGit(mirror, args, { env: { GIT_DIR: mirror } })).stdout.toString().trim();
const subjects = (base: string, head: string) => show("log", "--reverse", "--format=%s", `${base}..${head}`);

function id(name: string): string {
  const found = ids[name];
  if (!found) throw new Error(`no commit ${name}`);
  return found;
}

async function rebase(base: string, head: string): Promise<string> {
  const rebased = await git.writeRebase(repo, between(base, head));
  expect(await git.writeRebase(repo, between(base, head))).toEqual(rebased);
  if (!("commit" in rebased)) throw new Error(`conflicts: ${rebased.conflicts}`);
  return rebased.commit;
}

test("a squash is one commit on the base, by the given person, and repeatable", async () => {
  const squashed = await git.writeSquash(repo, between("base", "two"));
  expect(await git.writeSquash(repo, between("base", "two"))).toEqual(squashed);
  if (!("commit" in squashed)) throw new Error("it should be clean");
  const person = "Mia Müller <mia@example.com> 1700000000 +0000";
  const tree = await show("rev-parse", `${id("merged")}^{tree}`);
  expect(await show("cat-file", "commit", squashed.commit)).toBe(
    `tree ${tree}\nparent ${id("base")}\nauthor ${person}\ncommitter ${person}\n\nm`,
  );
});

/** @param undone what the revert is of: the commit with the change, and the one without */
const revert = (base: string, [merged, before]: [string, string]) => {
  const commits = { base: id(base), merged: id(merged), before: id(before) };
  return git.writeRevert(repo, { ...REQUEST, ...commits });
};

test("a revert is one commit on the base, by the given person, and repeatable", async () => {
  const reverted = await revert("merged", ["merged", "two"]);
  expect(await revert("merged", ["merged", "two"])).toEqual(reverted);
  if (!("commit" in reverted)) throw new Error("it should be clean");
  const person = "Mia Müller <mia@example.com> 1700000000 +0000";
  const tree = await show("rev-parse", `${id("two")}^{tree}`);
  expect(await show("cat-file", "commit", reverted.commit)).toBe(
    `tree ${tree}\nparent ${id("merged")}\nauthor ${person}\ncommitter ${person}\n\nm`,
  );
});

test("a revert undoes a range and keeps what came later, conflicts where that changed the same, and is the base where nothing is left", async () => {
  const range = await revert("on top", ["merged", "two"]);
  if (!("commit" in range)) throw new Error("it should be clean");
  expect(await show("ls-tree", "--name-only", range.commit)).toBe("f\nx");
  expect(await show("show", `${range.commit}:x`)).toBe("3");
  expect(await revert("on top", ["two", "root"])).toEqual({ conflicts: ["x"] });
  expect(await revert("base", ["two", "root"])).toEqual({ commit: id("base") });
});

test("a revert merges by the attributes of the base", async () => {
  const reverted = await revert("rules and b", ["conflict", "two"]);
  if (!("commit" in reverted)) throw new Error("the attribute merges it");
  expect(await revert("base", ["conflict", "two"])).toEqual({ conflicts: ["b"] });
});

test("a squash that changes nothing is the base", async () => {
  expect(await git.writeSquash(repo, between("base", "there and back"))).toEqual({ commit: id("base") });
});

test("a rebase keeps authors, their dates and messages; the person who merges is the committer", async () => {
  const commit = await rebase("base", "two");
  expect(
    await show("log", "--reverse", "--format=%s %an %ae %at %cn %ce %ct", `${id("base")}..${commit}`),
  ).toBe(
    [
      "one A a@example.com 1700000002 Mia Müller mia@example.com 1700000000",
      "two A a@example.com 1700000003 Mia Müller mia@example.com 1700000000",
    ].join("\n"),
  );
  expect(await show("rev-parse", `${commit}^{tree}`)).toBe(await show("rev-parse", `${id("merged")}^{tree}`));
});

test("a rebase leaves out what the base has: the same patch, and changes that become empty", async () => {
  expect(await subjects(id("picked"), await rebase("picked", "two"))).toBe("two");
  expect(await rebase("picked", "one")).toBe(id("picked"));
  expect(await rebase("picked", "same")).toBe(id("picked"));
  expect(await rebase("reverted", "one")).toBe(id("reverted"));
});

test("a rebase keeps a commit that was empty from the beginning", async () => {
  expect(await subjects(id("base"), await rebase("base", "empty"))).toBe("empty");
});

test("a rebase leaves out merge commits, and keeps commits that are in place", async () => {
  expect(await subjects(id("base"), await rebase("base", "on top"))).toBe("one\ntwo\non top");
  expect(await subjects(id("base"), await rebase("base", "evil merge"))).toBe("one\ntwo");
  expect(await rebase("root", "two")).toBe(id("two"));
});

test("a conflict in a later commit names its paths and the commit", async () => {
  const rebased = await git.writeRebase(repo, between("base", "conflict"));
  expect(rebased).toEqual({ conflicts: ["b"], at: id("conflict") });
});

test("the head's own attributes do not count in any step", async () => {
  const rebased = await git.writeRebase(repo, between("base", "rules and b"));
  expect(rebased).toEqual({ conflicts: ["b"], at: id("rules and b") });
});

test("a rebase of too many commits is refused", async () => {
  const many = `many ${REBASE_COMMITS_MAX}`;
  expect(git.writeRebase(repo, between("base", many))).rejects.toMatchObject({ code: "too_many_commits" });
});

test("a message in another encoding keeps its bytes, and a signature is left out", async () => {
  const lines = [
    `tree ${await upstream.git("rev-parse", `${id("one")}^{tree}`)}`,
    `parent ${id("root")}`,
    "author J\xfcrgen <j@example.com> 1600000000 +0200",
    "committer J\xfcrgen <j@example.com> 1600000000 +0200",
    "gpgsig -----BEGIN PGP SIGNATURE-----",
    " author of nothing",
    " -----END PGP SIGNATURE-----",
    "encoding ISO-8859-1",
    "",
    "gr\xfcn\n\n",
  ];
  const stdin = Buffer.from(lines.join("\n"), "latin1");
  const written = await runGit(upstream.directory, ["hash-object", "-t", "commit", "-w", "--stdin"], {
    stdin,
  });
  const commit = written.stdout.toString().trim();
  await upstream.git("update-ref", "refs/heads/latin", commit);
  expect(await git.ensureCommits(repo, [commit])).toBe(true);
  ids["latin"] = commit;
  const rebased = await runGit(mirror, ["cat-file", "commit", await rebase("base", "latin")], {
    env: { GIT_DIR: mirror },
  });
  const [tree = "", parent, ...rest] = rebased.stdout.toString("latin1").split("\n");
  expect([tree.slice(0, 5), parent]).toEqual(["tree ", `parent ${id("base")}`]);
  expect(rest).toEqual([
    "author J\xfcrgen <j@example.com> 1600000000 +0200",
    `committer ${Buffer.from("Mia Müller").toString("latin1")} <mia@example.com> 1700000000 +0000`,
    "encoding ISO-8859-1",
    "",
    "gr\xfcn",
    "",
    "",
  ]);
});
