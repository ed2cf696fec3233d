import { afterAll, beforeAll, expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GatewayBench, refsOf, runClient, scratch, setRefs, startGateway } from "../helpers/gateway.ts";
import {
  type Bed,
  type Beginning,
  emptyProject,
  HISTORY,
  makeBed,
  makeHistory,
  PROTOCOLS,
  type Protocol,
} from "../helpers/git-clients.ts";
import { runGit } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { SEED, sample, share } from "../helpers/random.ts";

const test = needs("a real Postgres", POSTGRES);

let bench: GatewayBench;
let beginning: Beginning;
const work = scratch();

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startGateway();
  beginning = await makeHistory(bench, join(work.path, "history"));
});

afterAll(async () => {
  await bench?.stop();
  work[Symbol.dispose]();
});

/** Each is done on both kinds of repository in each version of the protocol, and begins with the same refs. */
const OPERATIONS: Record<string, (bed: Bed) => Promise<void>> = {
  async clone({ clone }) {
    const git = await clone("c");
    expect(await git("rev-parse", "HEAD", "origin/feature", "v1")).toBe(
      ids("heads/main", "heads/feature", "tags/v1"),
    );
    expect(await git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
    expect(await git("status", "--porcelain")).toBe("");
    await git("fsck", "--full", "--strict");
  },

  async "clone --mirror: branches and tags, nothing of svc's own"({ clone, folder }) {
    const git = await clone("c", "--mirror");
    const { "refs/cr/1/head": _, "refs/svc/saved/x": __, ...served } = beginning;
    expect(await refsOf(join(folder, "c"))).toEqual(served);
    await git("fsck", "--full", "--strict");
  },

  async "clone of one branch, and of a tag"({ clone }) {
    const branch = await clone("c", "--bare", "--single-branch", "--branch=feature");
    expect(await branch("for-each-ref", "--format=%(refname)", "refs/heads")).toBe("refs/heads/feature");
    const tag = await clone("d", "--branch=v1");
    expect(await tag("rev-list", "--count", "HEAD")).toBe(String(HISTORY.tagged));
  },

  async "fetch of what others pushed, and of what they deleted"({ clone }) {
    const [one, two] = [await clone("one"), await clone("two")];
    await one("commit", "--quiet", "--allow-empty", "-m", "new");
    await one("push", "--quiet", "origin", "HEAD:main", "HEAD:refs/heads/more", ":feature");
    await two("fetch", "--quiet", "--prune");
    const tip = await one("rev-parse", "HEAD");
    expect(await two("rev-parse", "origin/main", "origin/more")).toBe(`${tip}\n${tip}`);
    expect(await two("branch", "--remotes", "--list", "origin/feature")).toBe("");
    await two("pull", "--quiet", "--ff-only");
    expect(await two("rev-parse", "HEAD")).toBe(tip);
    expect(await two("remote", "show", "origin")).toContain("HEAD branch: main");
  },

  async "shallow by depth, deepened, made whole"({ clone }) {
    const git = await clone("c", "--depth=1");
    const count = async () => Number(await git("rev-list", "--count", "HEAD"));
    expect(await count()).toBe(1);
    await git("fetch", "--quiet", "--deepen=4");
    expect(await count()).toBe(5);
    await git("fetch", "--quiet", "--depth=2");
    expect(await count()).toBe(2);
    await git("fetch", "--quiet", "--unshallow");
    expect(await count()).toBe(HISTORY.commits);
    await git("fsck", "--full");
  },

  async "shallow by time and by tag"({ clone }) {
    const since = await clone(
      "c",
      `--shallow-since=${HISTORY.firstSecond + HISTORY.commits - 4}`,
      "--single-branch",
    );
    expect(await since("rev-list", "--count", "HEAD")).toBe("4");
    const exclude = await clone("d", "--shallow-exclude=v1", "--single-branch");
    expect(await exclude("rev-list", "--count", "HEAD")).toBe(String(HISTORY.commits - HISTORY.tagged));
  },

  async "partial: what was left out comes when it is looked at"({ clone }) {
    for (const filter of ["blob:none", "blob:limit=1k", "tree:0"]) {
      const git = await clone(filter.replace(":", "-"), `--filter=${filter}`, "--no-checkout");
      const missing = async () =>
        (await git("rev-list", "--objects", "--all", "--missing=print")).split("\n?").length - 1;
      const before = await missing();
      expect(before).toBeGreaterThan(0);
      await git("checkout", "--quiet", "main");
      expect(await missing()).toBeLessThan(before);
      expect(await git("hash-object", "big")).toBe(await git("rev-parse", "HEAD:big"));
      expect(await git("show", "v0:f")).toBe("0");
      await git("fsck");
    }
  },

  async "fetch of a commit by its id"({ git, url }) {
    await git("init", "--quiet", "c");
    await git("-C", "c", "fetch", "--quiet", "--depth=2", url, ids("tags/v0"));
    expect(await git("-C", "c", "rev-parse", "FETCH_HEAD")).toBe(ids("tags/v0"));
  },

  async "ls-remote names the default branch, and what a tag stands for"({ git, url, onDisk }) {
    const lines = (await git("ls-remote", "--symref", url)).split("\n");
    expect(lines).toContain("ref: refs/heads/main\tHEAD");
    expect(lines).toContain(`${ids("heads/main")}\tHEAD`);
    expect(lines).toContain(`${await onDisk("v1^{}")}\trefs/tags/v1^{}`);
    expect(await git("ls-remote", "--heads", url, "feature")).toBe(
      `${ids("heads/feature")}\trefs/heads/feature`,
    );
  },

  async "push of a new branch, of more on it, and its deletion"({ clone, onDisk }) {
    const git = await clone("c");
    for (const flag of ["--set-upstream", "--force-with-lease"]) {
      await git("commit", "--quiet", "--allow-empty", "-m", flag);
      await git("push", "--quiet", flag, "origin", "HEAD:refs/heads/work");
      expect(await onDisk("refs/heads/work")).toBe(await git("rev-parse", "HEAD"));
    }
    await git("push", "--quiet", "origin", "--delete", "work");
    expect(await onDisk("refs/heads/work")).toBeNull();
  },

  async "push without a new object"({ clone, onDisk }) {
    const git = await clone("c");
    await git("push", "--quiet", "origin", "HEAD~3:refs/heads/back");
    expect(await onDisk("refs/heads/back")).toBe(await git("rev-parse", "HEAD~3"));
    expect(await git("push", "--porcelain", "origin", "main")).toContain("[up to date]");
  },

  async "push of tags"({ clone, onDisk }) {
    const git = await clone("c");
    await git("tag", "--annotate", "-m", "note", "v3");
    await git("tag", "light");
    await git("push", "--quiet", "--tags", "origin");
    expect(await onDisk("refs/tags/v3")).toBe(await git("rev-parse", "v3"));
    expect(await onDisk("refs/tags/light")).toBe(ids("heads/main"));
  },

  async "push of more than git keeps in its buffer: in chunks"({ clone, folder, trace, onDisk }) {
    const git = await clone("c");
    for (let file = 0; file < 40; file++)
      writeFileSync(join(folder, "c", `r${file}`), crypto.getRandomValues(new Uint8Array(60_000)));
    await git("add", ".");
    await git("commit", "--quiet", "-m", "much");
    const flags = ["-c", "http.postBuffer=65536"];
    const said = await trace("c", ...flags, "push", "--quiet", "origin", "HEAD:refs/heads/much");
    expect(said).toContain("Transfer-Encoding: chunked");
    expect(await onDisk("refs/heads/much")).toBe(await git("rev-parse", "HEAD"));
    const again = await clone("d", "--branch=much", "--depth=1");
    expect(await again("rev-parse", "HEAD^{tree}")).toBe(await git("rev-parse", "HEAD^{tree}"));
  },

  async "fetch by a client that has much to say: in gzip"({ clone, folder, trace }) {
    const [git, other] = [await clone("c"), await clone("d")];
    // commits without a common one, which the client offers one after the other
    const own = Array.from(
      { length: 300 },
      (_, index) =>
        `commit refs/heads/own/${index}\ncommitter A <a@example.com> ${HISTORY.firstSecond + index} +0000\ndata 1\nx\n`,
    );
    await runGit(join(folder, "c"), ["fast-import", "--quiet"], { stdin: own.join("") });
    await other("commit", "--quiet", "--allow-empty", "-m", "new");
    await other("push", "--quiet", "origin", "HEAD:main");
    expect(await trace("c", "fetch", "--quiet", "origin", "main")).toContain("Content-Encoding: gzip");
    expect(await git("rev-parse", "FETCH_HEAD")).toBe(await other("rev-parse", "HEAD"));
  },

  async "push from a shallow clone and from a partial one"({ clone, onDisk }) {
    for (const [index, flag] of ["--depth=1", "--filter=blob:none"].entries()) {
      const git = await clone(`c${index}`, flag);
      await git("commit", "--quiet", "--allow-empty", "-m", flag);
      await git("push", "--quiet", "origin", `HEAD:refs/heads/from${index}`);
      expect(await onDisk(`refs/heads/from${index}`)).toBe(await git("rev-parse", "HEAD"));
      expect(await onDisk(`refs/heads/from${index}~1`)).toBe(ids("heads/main"));
    }
  },

  async "the new default branch, once it was changed"({ place, clone, git, url }) {
    const path = `/v1/projects/${place.project.project_id}`;
    const choose = async (default_branch: string) =>
      expect((await bench.api.call("PATCH", path, { body: { default_branch } })).status).toBe(200);
    await choose("feature");
    expect(await git("ls-remote", "--symref", url, "HEAD")).toContain("ref: refs/heads/feature\tHEAD");
    const cloned = await clone("c");
    expect(await cloned("symbolic-ref", "HEAD")).toBe("refs/heads/feature");
    await choose("main");
    expect((await bench.api.call("DELETE", `${path}/protected/feature`)).status).toBe(200);
  },

  async "clone of an empty project, and the first push"({ place, protocol, git, folder }) {
    await using empty = await emptyProject(bench, place === bench.hosted ? "hosted" : "external");
    const url = bench.url(empty, bench.api.token);
    await git("clone", "--quiet", url, "c");
    // older versions cannot tell the name of a branch that is not there yet
    if (protocol === 2) expect(await git("-C", "c", "symbolic-ref", "HEAD")).toBe("refs/heads/trunk");
    else await git("-C", "c", "checkout", "--quiet", "-b", "trunk");
    writeFileSync(join(folder, "c", "f"), "1\n");
    await git("-C", "c", "add", "f");
    await git("-C", "c", "commit", "--quiet", "-m", "first");
    await git("-C", "c", "push", "--quiet", "origin", "trunk");
    expect(await refsOf(empty.directory)).toEqual({
      "refs/heads/trunk": await git("-C", "c", "rev-parse", "HEAD"),
    });
    await git("clone", "--quiet", url, "d");
    expect(readFileSync(join(folder, "d", "f"), "utf8")).toBe("1\n");
  },
};

for (const kind of ["hosted", "external"] as const) {
  for (const protocol of protocolsOf(kind)) {
    test.each(sample(3, Object.entries(OPERATIONS)))(
      `${kind}, version ${protocol}: %s`,
      async (_, operation) => {
        const place = bench[kind];
        await setRefs(place.directory, beginning);
        using folder = scratch();
        await operation(makeBed(bench, place, protocol, folder.path));
        expect(await runClient(place.directory, "fsck", "--connectivity-only")).toMatchObject({ code: 0 });
      },
    );
  }
}

test.each(sample(1, ["hosted", "external"] as const))("%s: 1,500 branches and 500 tags", async (kind) => {
  const { directory } = bench[kind];
  const refs: Beginning = { "refs/heads/main": ids("heads/main") };
  for (let index = 0; index < 1_500; index++) refs[`refs/heads/many/${index}`] = ids("heads/feature");
  for (let index = 0; index < 500; index++) refs[`refs/tags/many/${index}`] = ids("tags/v1");
  await setRefs(directory, refs);
  for (const protocol of protocolsOf(kind)) {
    using folder = scratch();
    const { clone, git, url } = makeBed(bench, bench[kind], protocol, folder.path);
    expect((await git("ls-remote", "--refs", url)).split("\n")).toHaveLength(2_001);
    await clone("c", "--mirror");
    expect(await refsOf(join(folder.path, "c"))).toEqual(refs);
  }
  using folder = scratch();
  const { clone } = makeBed(bench, bench[kind], 2, folder.path);
  const git = await clone("c", "--bare");
  const changes = Array.from({ length: 300 }, (_, index) => [
    `:refs/heads/many/${index}`,
    `refs/heads/main:refs/heads/made/${index}`,
  ]);
  await git("push", "--quiet", "origin", ...changes.flat());
  const after = Object.keys(await refsOf(directory));
  expect(after.filter((ref) => ref.startsWith("refs/heads/made/"))).toHaveLength(300);
  expect(after).toHaveLength(2_001);
});

/** In each run both kinds are spoken to in the newest version, and in one of the older ones, which the seed chooses. */
function protocolsOf(kind: "hosted" | "external"): Protocol[] {
  const turn = kind === "hosted" ? SEED : SEED + 1;
  return PROTOCOLS.filter((protocol) => protocol === 2 || share(0, 1) > 0 || (protocol + turn) % 2 === 0);
}

/** What refs name at the beginning, a line each. */
function ids(...names: string[]): string {
  return names.map((name) => beginning[`refs/${name}`]).join("\n");
}
