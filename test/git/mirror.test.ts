import { expect, test } from "bun:test";
import { chmod, mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SvcError } from "../../src/contract/errors.ts";
import type { Git } from "../../src/git/git.ts";
import { serveGit } from "../helpers/git-http.ts";
import {
  BYTES,
  createRepository,
  createTestGit,
  runGit,
  type TestRepository,
  temporary,
} from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { sample } from "../helpers/random.ts";

test.each(["sha1", "sha256"] as const)("branches, mirror and merge of a %s repository", async (format) => {
  await using place = await start({ format, branch: "trunk" });
  const ids = await place.upstream.write([
    { name: "root", branch: "trunk", files: { f: "1\n", k: "1\n" } },
    { name: "base", branch: "trunk", parents: ["root"], files: { f: "2\n", k: "1\n" } },
    { name: "head", branch: "work/ünï", parents: ["root"], files: { f: "1\n", k: "2\n" } },
  ]);
  const { base = "", head = "" } = ids;
  const branches = await place.git.listBranches(place.repo, 5000);
  expect([...branches.tips]).toEqual([
    ["trunk", base],
    ["work/ünï", head],
  ]);
  expect(branches.head).toBe("trunk");
  expect(await place.git.ensureCommits(place.repo, [base, head])).toBe(true);
  expect(await place.git.compare(place.repo, base, head)).toMatchObject({
    mergeBase: ids["root"] ?? "",
    canMerge: true,
  });
  expect(await place.git.ensureCommits(place.repo, ["1".repeat(base.length)])).toBe(false);
});

test("an empty repository has no branches; a missing one is unreachable", async () => {
  await using place = await start();
  const { tips, head } = await place.git.listBranches(place.repo, 5000);
  expect([...tips]).toEqual([]);
  expect(head).toBeNull();
  expect(await place.git.ensureCommits(place.repo, ["1".repeat(40)])).toBe(false);
  await rm(place.upstream.directory, { recursive: true });
  const unreachable = { code: "repo_unreachable", message: expect.stringContaining("no repository") };
  expect(place.git.listBranches(place.repo, 5000)).rejects.toMatchObject(unreachable);
  const other = { ...place.repo, id: crypto.randomUUID() };
  expect(place.git.ensureCommits(other, ["1".repeat(40)])).rejects.toMatchObject(unreachable);
});

const asRoot = needs("root, to make a repository of another user", process.getuid?.() === 0);

asRoot("rejects a repository of another user with the next step", async () => {
  await using place = await start();
  await place.upstream.write([{ name: "root", branch: "main", files: { f: "1" } }]);
  Bun.spawnSync(["chown", "-R", "65534:65534", place.upstream.directory]);
  expect(place.git.listBranches(place.repo, 5000)).rejects.toMatchObject({
    code: "repo_unreachable",
    message: expect.stringContaining("another user"),
  });
});

test("a shallow repository is refused, not read as unrelated histories", async () => {
  await using place = await start();
  await place.upstream.write([
    { name: "root", branch: "main", files: { f: "1" } },
    { name: "tip", branch: "main", parents: ["root"], files: { f: "2" } },
  ]);
  const shallow = join(place.directory, "shallow.git");
  await runGit(place.directory, ["clone", "-q", "--bare", "--depth=1", place.upstream.url, shallow]);
  const repo = { ...place.repo, id: crypto.randomUUID(), url: `file://${shallow}` };
  const tip = (await place.git.listBranches(repo, 5000)).tips.get("main") ?? "";
  expect(place.git.ensureCommits(repo, [tip])).rejects.toMatchObject({
    code: "repo_unreachable",
    message: expect.stringContaining("shallow"),
  });
});

test("follows branches that replace directories, move back and disappear", async () => {
  await using place = await start();
  const { one = "", two = "" } = await place.upstream.write([
    { name: "one", branch: "a", files: { f: "1" } },
    { name: "two", branch: "b/c", files: { f: "2" } },
  ]);
  expect(await place.git.ensureCommits(place.repo, [one, two])).toBe(true);
  await place.upstream.git("update-ref", "-d", "refs/heads/a");
  await place.upstream.git("update-ref", "-d", "refs/heads/b/c");
  const { three = "", four = "" } = await place.upstream.write([
    { name: "three", branch: "a/x", files: { f: "3" } },
    { name: "four", branch: "b", files: { f: "4" } },
  ]);
  expect(await place.git.ensureCommits(place.repo, [three, four])).toBe(true);
  expect(await mirrorRefs(place)).toEqual(["refs/heads/a/x", "refs/heads/b"]);
  // what was fetched once is still here
  expect(await place.git.ensureCommits(place.repo, [one, two])).toBe(true);
});

test("a branch whose name is too long for the disk does not block the others", async () => {
  await using place = await start();
  const { one = "" } = await place.upstream.write([{ name: "one", branch: "main", files: { f: "1" } }]);
  await writeFile(join(place.upstream.directory, "packed-refs"), `${one} refs/heads/${"x".repeat(300)}\n`);
  expect(await place.git.ensureCommits(place.repo, [one])).toBe(true);
});

test("tags are fetched with the branches; notes and replacements are not", async () => {
  await using place = await start();
  const {
    one = "",
    two = "",
    three = "",
  } = await place.upstream.write([
    { name: "one", branch: "main", files: { f: "1" } },
    { name: "two", files: { f: "2" } },
    { name: "three", files: { f: "3" } },
  ]);
  await place.upstream.git("update-ref", `refs/replace/${one}`, three);
  await place.upstream.git("update-ref", "refs/notes/main", three);
  await place.upstream.git("update-ref", "refs/tags/main", two);
  expect((await place.git.listBranches(place.repo, 5000)).tips.get("main")).toBe(one);
  expect(await place.git.ensureCommits(place.repo, [one])).toBe(true);
  expect(await mirrorRefs(place)).toEqual(["refs/heads/main", "refs/tags/main"]);
  expect(await place.git.ensureCommits(place.repo, [two])).toBe(true);
  expect(await place.git.ensureCommits(place.repo, [three])).toBe(false);
});

test("kept commits outlive their branches", async () => {
  await using place = await start();
  const { one = "", two = "" } = await place.upstream.write([
    { name: "one", branch: "main", files: { f: "1" } },
    { name: "two", branch: "work", parents: ["one"], files: { f: "2" } },
  ]);
  await place.git.ensureCommits(place.repo, [one, two]);
  const commits = { base: one, "head/1": two, merge: two };
  await Promise.all([1, 2, 3].map((number) => place.git.keep(place.repo, number, commits)));
  await place.git.keep(place.repo, 1, commits);
  await place.upstream.git("update-ref", "-d", "refs/heads/work");
  const { three = "" } = await place.upstream.write([
    { name: "three", branch: "main", parents: [one], files: { f: "3" } },
  ]);
  await place.git.ensureCommits(place.repo, [three]);
  expect(await mirrorRefs(place)).toContain("refs/cr/1/head/1");
  expect(place.git.keep(place.repo, 0, commits)).rejects.toThrow(TypeError);
});

test("many small fetches leave few packs", async () => {
  await using place = await start();
  let parents: string[] = [];
  for (let round = 0; round < 20; round++) {
    const { tip = "" } = await place.upstream.write([
      { name: "tip", branch: "main", parents, files: { f: `${round}` } },
    ]);
    expect(await place.git.ensureCommits(place.repo, [tip])).toBe(true);
    parents = [tip];
  }
  await place.git.close();
  const packs = await readdir(join(place.mirror(), "objects", "pack"));
  expect(packs.filter((name) => name.endsWith(".pack")).length).toBeLessThan(18);
});

test("a mirror of another URL is not used", async () => {
  await using place = await start();
  const { one = "" } = await place.upstream.write([{ name: "one", branch: "main", files: { secret: "1" } }]);
  expect(await place.git.ensureCommits(place.repo, [one])).toBe(true);
  const other = await createRepository(join(place.directory, "other"));
  const { two = "" } = await other.write([{ name: "two", branch: "main", files: { f: "2" } }]);
  const moved = { ...place.repo, url: other.url };
  expect(await place.git.ensureCommits(moved, [two])).toBe(true);
  expect(await place.git.ensureCommits(moved, [one])).toBe(false);
});

test.each(["this", "an earlier"])(
  "a mirror of %s version survives another spelling of its URL, with the refs that only it has",
  async (version) => {
    await using place = await start();
    const { one = "" } = await place.upstream.write([{ name: "one", branch: "main", files: { f: "1" } }]);
    const spelt = { ...place.repo, url: `${place.repo.url}/` };
    expect(await place.git.ensureCommits(spelt, [one])).toBe(true);
    await place.git.keep(spelt, 1, { base: one, "head/1": one, merge: one });
    expect(await place.git.ensureCommits(place.repo, [one])).toBe(true);
    if (version === "an earlier") {
      const digest = new Bun.CryptoHasher("sha256").update(spelt.url).digest("hex");
      await writeFile(join(place.mirror(), "svc-origin"), `${digest}\n`);
      // its URL is still the one that it was made with
      expect(await place.git.ensureCommits(spelt, [one])).toBe(true);
      expect(await place.git.ensureCommits(place.repo, [one])).toBe(true);
    }
    expect(await mirrorRefs(place)).toContain("refs/cr/1/head/1");
  },
);

test("rejects an id that is not a UUID", async () => {
  await using place = await start();
  expect(place.git.ensureCommits({ ...place.repo, id: "../../x" }, ["1".repeat(40)])).rejects.toThrow(
    TypeError,
  );
  expect(place.git.ensureCommits(place.repo, ["main"])).rejects.toThrow(TypeError);
});

test("files of a killed process are removed", async () => {
  await using place = await start();
  const { one = "" } = await place.upstream.write([{ name: "one", branch: "main", files: { f: "1" } }]);
  await place.git.ensureCommits(place.repo, [one]);
  await place.git.close();
  const left = [
    "packed-refs.lock",
    "HEAD.lock",
    "refs/heads/main.lock",
    "objects/info/commit-graphs/commit-graph-chain.lock",
    "objects/pack/.tmp-1-pack-1.pack",
    `objects/pack/pack-${"1".repeat(40)}.pack`,
    `objects/pack/pack-${"1".repeat(40)}.rev`,
    "objects/1f/tmp_obj_x",
    "packed-refs.new",
    "objects/pack/tmp_pack_x1",
    "objects/pack/.tmp-123-pack-1.pack",
    "shallow.lock",
  ];
  for (const name of left) {
    await mkdir(join(place.mirror(), name, ".."), { recursive: true });
    await writeFile(join(place.mirror(), name), "");
  }
  await writeFile(
    join(place.mirror(), "config"),
    "[merge]\n\trenormalize = true\n[core]\n\tfsmonitor = touch /tmp/never\n",
  );
  await mkdir(join(place.directory, "data", "git", "temporary", "objects-half"), { recursive: true });
  await using again = await createTestGit({ dataDir: join(place.directory, "data") });
  const { two = "" } = await place.upstream.write([
    { name: "two", branch: "main", parents: ["refs/heads/main^0"], files: { f: "2" } },
  ]);
  expect(await again.git.ensureCommits(place.repo, [two])).toBe(true);
  for (const name of left) expect(await Bun.file(join(place.mirror(), name)).exists()).toBe(false);
  expect(await Bun.file(join(place.mirror(), "config")).text()).not.toContain("fsmonitor");
  expect(await readdir(join(place.directory, "data", "git", "temporary"))).toEqual([]);
});

test("incomplete packs are removed at the start, before the repository is used", async () => {
  await using folder = await temporary();
  const at = (name: string) => join(folder.path, "data", name);
  const half = ["tmp_pack_x1", "tmp_idx_x1", ".tmp-7-pack-1.pack"].map((name) => `pack/${name}`);
  const left = [...half, "info/tmp_graph_x2"];
  const kept = ["pack/pack-1.pack", "pack/pack-1.idx", "pack/notes-tmp_pack", "info/packs"];
  for (const repository of ["mirrors/a.git", "mirrors/b.git", "repositories/c.git"]) {
    for (const name of [...left, ...kept]) {
      await mkdir(join(at(`${repository}/objects`), name, ".."), { recursive: true });
      await writeFile(join(at(`${repository}/objects`), name), "x");
    }
  }
  await using _ = await createTestGit({ dataDir: at("") });
  for (const repository of ["mirrors/a.git", "mirrors/b.git", "repositories/c.git"]) {
    const names = await readdir(at(`${repository}/objects`), { recursive: true });
    expect(names.filter((name) => name.includes("/")).sort()).toEqual([...kept].sort());
  }
});

test("a fetch that was killed does not leave its mirror locked", async () => {
  await using place = await start();
  const { one = "" } = await place.upstream.write([{ name: "one", branch: "main", files: { f: "1" } }]);
  let hang = false;
  using server = serveGit(place.directory, () => (hang ? new Promise<Response>(() => {}) : null));
  const dataDir = join(place.directory, "data2");
  const repo = { id: crypto.randomUUID(), url: `${server.origin}/up`, credential: null };
  const ensure = async (commit: string, limits = {}) => {
    await using engine = await createTestGit({ dataDir, limits });
    return await engine.git.ensureCommits(repo, [commit]).catch((error) => error.code);
  };
  expect(await ensure(one)).toBe(true);
  const { two = "" } = await place.upstream.write([
    { name: "two", branch: "main", parents: [one], files: { f: "2" } },
  ]);
  const lock = join(dataDir, "mirrors", `${repo.id}.git`, "refs", "heads", "main.lock");
  await writeFile(lock, "");
  await utimes(lock, new Date(0), new Date(0));
  hang = true;
  expect(await ensure(two, { fetchMs: 500 })).toBe("repo_unreachable");
  hang = false;
  expect(await ensure(two)).toBe(true);
  expect(await Bun.file(lock).exists()).toBe(false);
});

const DAMAGES: Record<string, (mirror: string) => Promise<void>> = {
  "HEAD is gone": (mirror) => rm(join(mirror, "HEAD")),
  "the whole directory is gone": (mirror) => rm(mirror, { recursive: true }),
  "objects are gone": (mirror) => rm(join(mirror, "objects", "pack"), { recursive: true }),
  "a pack is overwritten": async (mirror) => {
    const packs = join(mirror, "objects", "pack");
    for (const name of await readdir(packs)) {
      if (!name.endsWith(".pack")) continue;
      await chmod(join(packs, name), 0o644);
      const bytes = await Bun.file(join(packs, name)).bytes();
      await writeFile(join(packs, name), bytes.fill(0x55, 12, bytes.length - 20));
    }
  },
  "a pack is cut": async (mirror) => {
    const packs = join(mirror, "objects", "pack");
    for (const name of await readdir(packs)) {
      if (!name.endsWith(".pack")) continue;
      await chmod(join(packs, name), 0o644);
      await writeFile(join(packs, name), (await Bun.file(join(packs, name)).bytes()).subarray(0, 40));
    }
  },
};

test.each(sample(2, Object.keys(DAMAGES)))("damage is repaired from the remote: %s", async (name) => {
  await using place = await start();
  const { base = "", head = "" } = await place.upstream.write([
    { name: "root", files: { f: "1\n", k: "1\n" } },
    { name: "base", branch: "main", parents: ["root"], files: { f: "2\n", k: "1\n" } },
    { name: "head", branch: "work", parents: ["root"], files: { f: "1\n", k: "2\n" } },
  ]);
  await place.git.ensureCommits(place.repo, [base, head]);
  const verdict = await place.git.compare(place.repo, base, head);
  await DAMAGES[name]?.(place.mirror());
  // while the server runs, and also for one that starts now
  const [first, second] = await Promise.all([
    place.git.compare(place.repo, base, head),
    place.git.compare(place.repo, base, head),
  ]);
  expect([first, second]).toEqual([verdict, verdict]);
  await place.git.close();
  await DAMAGES[name]?.(place.mirror());
  await using again = await createTestGit({ dataDir: join(place.directory, "data") });
  expect(await again.git.ensureCommits(place.repo, [base, head])).toBe(true);
  expect(await again.git.compare(place.repo, base, head)).toEqual(verdict);
});

test("damage that cannot be repaired is merge_engine_failed, not a result", async () => {
  await using place = await start();
  const { base = "", head = "" } = await place.upstream.write([
    { name: "root", files: { f: "1\n", k: "1\n" } },
    { name: "base", branch: "main", parents: ["root"], files: { f: "2\n", k: "1\n" } },
    { name: "head", branch: "work", parents: ["root"], files: { f: "1\n", k: "2\n" } },
  ]);
  await place.git.ensureCommits(place.repo, [base, head]);
  await place.upstream.git("update-ref", "-d", "refs/heads/work");
  await rm(join(place.mirror(), "objects", "pack"), { recursive: true });
  const error = await place.git.compare(place.repo, base, head).catch((thrown: SvcError) => thrown);
  expect(error).toMatchObject({ code: "merge_engine_failed" });
});

test("a deleted repository stays deleted when it is requested again", async () => {
  await using place = await start();
  const { one = "" } = await place.upstream.write([{ name: "one", branch: "main", files: { f: "1" } }]);
  await place.git.ensureCommits(place.repo, [one]);
  await place.git.forget(place.repo.id);
  expect(await readdir(join(place.directory, "data", "mirrors"))).toEqual([]);
  await place.git.forget(place.repo.id);
  const gone = {
    code: "not_found",
    message: "The project was deleted, or its repository has been replaced.",
  };
  expect(place.git.ensureCommits(place.repo, [one])).rejects.toMatchObject(gone);
  expect(place.git.hasCommit(place.repo, one)).rejects.toMatchObject(gone);
  expect(await readdir(join(place.directory, "data", "mirrors"))).toEqual([]);
});

test("shares a listing that begins after the request, not an earlier one", async () => {
  await using place = await start();
  const { one = "" } = await place.upstream.write([{ name: "one", branch: "main", files: { f: "1" } }]);
  let listings = 0;
  await using counted = await createTestGit({
    dataDir: join(place.directory, "data2"),
    log: { debug: (fields) => void ("git" in fields && listings++), info() {}, warn() {}, error() {} },
  });
  listings = 0;
  const first = counted.git.listBranches(place.repo, 5000);
  const { two = "" } = await place.upstream.write([
    { name: "two", branch: "main", parents: [one], files: { f: "2" } },
  ]);
  const later = Array.from({ length: 50 }, () => counted.git.listBranches(place.repo, 5000));
  await first;
  for (const { tips } of await Promise.all(later)) expect(tips.get("main")).toBe(two);
  // the first, perhaps one that began at once, and one for all others
  expect(listings).toBeLessThanOrEqual(3);
});

test("a request always sees earlier pushes, under load", async () => {
  await using place = await start();
  let parents: string[] = [];
  let stop = false;
  const load = (async () => {
    while (!stop) await place.git.listBranches(place.repo, 5000);
  })();
  for (let round = 0; round < 15; round++) {
    const { tip = "" } = await place.upstream.write([
      { name: "tip", branch: "main", parents, files: { f: `${round}` } },
    ]);
    parents = [tip];
    expect((await place.git.listBranches(place.repo, 5000)).tips.get("main")).toBe(tip);
  }
  stop = true;
  await load;
});

test("reads a file of a commit if it is a regular file", async () => {
  await using place = await start();
  const { one = "" } = await place.upstream.write([
    {
      name: "one",
      branch: "main",
      files: {
        "d/f": "text",
        "x y": "blank",
        link: { link: "d/f" },
        run: { executable: "#!" },
        sub: { submodule: "1".repeat(40) },
        "ü\n": "odd",
        [`${BYTES}\xff`]: "bytes",
      },
    },
  ]);
  await place.git.ensureCommits(place.repo, [one]);
  const read = async (path: string) => {
    const bytes = await place.git.readFile(place.repo, one, path, 10);
    return bytes === null ? null : Buffer.from(bytes).toString();
  };
  expect(await Promise.all(["d/f", "x y", "run", "ü\n"].map(read))).toEqual(["text", "blank", "#!", "odd"]);
  expect(
    await Promise.all(
      ["", "d", "link", "sub", "none", "d/none", "./d/f", "../x", "d//f", "d/f/", "a\0b", "/d/f"].map(read),
    ),
  ).toEqual(Array(12).fill(null));
  expect(place.git.readFile(place.repo, one, "d/f", 3)).rejects.toMatchObject({
    code: "merge_engine_failed",
  });
});

interface Place extends AsyncDisposable {
  directory: string;
  upstream: TestRepository;
  git: Git;
  repo: { id: string; url: string; credential: null };
  mirror(): string;
}

async function start(options: Parameters<typeof createRepository>[1] = {}): Promise<Place> {
  const directory = await temporary();
  const upstream = await createRepository(join(directory.path, "up"), options);
  const engine = await createTestGit({ dataDir: join(directory.path, "data") });
  const repo = { id: crypto.randomUUID(), url: upstream.url, credential: null };
  return {
    directory: directory.path,
    upstream,
    git: engine.git,
    repo,
    mirror: () => join(directory.path, "data", "mirrors", `${repo.id}.git`),
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

async function mirrorRefs(place: Place): Promise<string[]> {
  const { stdout } = await runGit(place.mirror(), ["for-each-ref", "--format=%(refname)"]);
  return stdout.toString().trim().split("\n");
}
