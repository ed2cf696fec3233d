import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import { join } from "node:path";
import { type GatewayBench, scratch, setRefs, startGateway } from "../helpers/gateway.ts";
import { createRepository, type TestRepository } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { commitOf, deltaOf, idOf, type PackEntry, packOf, treeOf } from "../helpers/pack.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { expectUntouched } from "../helpers/untouched.ts";
import { postGit, pushOf } from "../helpers/wire.ts";

const test = needs("a real Postgres", POSTGRES);

const MIB = 1024 * 1024;
const LIMITS = {
  packBytes: 4 * MIB,
  fetchMemory: 256 * MIB,
  inflatedBytes: 16 * MIB,
};
const MAIN = "refs/heads/main";

let bench: GatewayBench;
let work: TestRepository;
let first: string;
const folder = scratch();

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startGateway({}, LIMITS);
  work = await createRepository(join(folder.path, "work.git"));
  first = (await work.write([{ name: "first", files: { f: "1\n" } }]))["first"] ?? "";
  await work.git("push", "--quiet", bench.hosted.directory, `${first}:${MAIN}`);
});

afterEach(async () => {
  if (bench) await expectUntouched(bench, folder.path, { [MAIN]: first });
});

afterAll(async () => {
  await bench?.stop();
  folder[Symbol.dispose]();
});

const blob = (text: string): PackEntry => ({ type: "blob", data: Buffer.from(text) });

/** A commit of this tree, with everything in the pack. */
function withTree(entries: Parameters<typeof treeOf>[0], blobs: readonly PackEntry[] = [blob("x")]) {
  const tree = treeOf(entries);
  const commit = commitOf(idOf("tree", tree));
  return {
    to: idOf("commit", commit),
    pack: packOf([...blobs, { type: "tree", data: tree }, { type: "commit", data: commit }]),
  };
}

const X = idOf("blob", Buffer.from("x"));
const file = (name: string, id = X) => ({ mode: "100644", name, id });
const good = withTree([file("f")]);
const gitmodules = (text: string) =>
  withTree(
    [
      file(".gitmodules", idOf("blob", Buffer.from(text))),
      { mode: "160000", name: "sub", id: "1".repeat(40) },
    ],
    [blob(text)],
  );

/** Trees within each other, each the only or the tenfold entry of the next, below a commit. */
function nested(levels: number, width: number) {
  const trees = [treeOf([file("f")])];
  while (trees.length < levels) {
    const id = idOf("tree", trees.at(-1) ?? Buffer.alloc(0));
    trees.push(
      treeOf(Array.from({ length: width }, (_, index) => ({ mode: "40000", name: `${index}`, id }))),
    );
  }
  const commit = commitOf(idOf("tree", trees.at(-1) ?? Buffer.alloc(0)));
  const entries = trees.map((data): PackEntry => ({ type: "tree", data }));
  return {
    to: idOf("commit", commit),
    pack: packOf([blob("x"), ...entries, { type: "commit", data: commit }]),
  };
}

/** What comes after the commands, and the words of the refusal. */
const PACKS: Record<string, { to?: string; pack: Uint8Array; says: RegExp }> = {
  "no pack": { pack: Buffer.alloc(0), says: /no pack was sent/ },
  "no pack but text": { pack: Buffer.from("hello, this is no pack"), says: /no pack was sent/ },
  "half a header": { pack: good.pack.subarray(0, 7), says: /no pack was sent/ },
  "an empty pack": { pack: packOf([]), says: /objects are missing/ },
  "another pack's commit": { to: "1".repeat(40), pack: good.pack, says: /objects are missing/ },
  "a version that does not exist": { pack: packOf([blob("x")], 1, 9), says: /pack version 9 unsupported/ },
  "a cut pack": { pack: good.pack.subarray(0, -30), says: /early EOF|inflate|bad/ },
  "a cut checksum": { pack: good.pack.subarray(0, -3), says: /early EOF/ },
  "a wrong checksum": {
    pack: Buffer.concat([good.pack.subarray(0, -20), Buffer.alloc(20)]),
    says: /pack is corrupted \(SHA1 mismatch\)/,
  },
  "a flipped bit": {
    pack: Buffer.from(good.pack).fill((good.pack[20] ?? 0) ^ 4, 20, 21),
    says: /inflate|inconsistent|mismatch|corrupt/,
  },
  "fewer objects than it says": { pack: packOf([blob("x")], 2), says: /./ },
  "2^32-1 objects, it says": { pack: packOf([blob("x")], 2 ** 32 - 1), says: /./ },
  "an object of 2^60 bytes, it says": {
    pack: packOf([{ ...blob("x"), size: 2n ** 60n }]),
    says: /./,
  },
  "an object of another size than it says": { pack: packOf([{ ...blob("xyz"), size: 2n }]), says: /./ },
  "an object that is not compressed": {
    pack: packOf([{ ...blob("x"), raw: Buffer.from("hello") }]),
    says: /inflate/,
  },
  "a tree of 300 MB in 300 KB": {
    pack: packOf([{ type: "tree", data: Buffer.alloc(300 * MIB) }]),
    says: /too much memory|tree/,
  },
  "10^11 paths in 12 trees": { ...nested(12, 10), says: /More than 10,000,000 paths change/ },
  "trees nested 1,001 deep": { ...nested(1_002, 1), says: /nested more than 1,000 deep/ },
  "trees nested 50,000 deep": { ...nested(50_000, 1), says: /nested more than 1,000 deep/ },
  "500 MB in 500 KB": {
    pack: packOf(
      Array.from({ length: 5 }, (_, n) => ({ type: "blob", data: Buffer.alloc(100 * MIB, n) }) as const),
    ),
    says: /objects are 500 MiB when they are unpacked, and a push has at most 16/,
  },
  "a delta that makes 2 GB of 64 KB": {
    pack: packOf([
      { type: "blob", data: Buffer.alloc(65_536, 1) },
      {
        type: "ref-delta",
        base: idOf("blob", Buffer.alloc(65_536, 1)),
        data: deltaOf(65_536, 65_536 * 32_768, Array(32_768).fill([0, 65_536])),
      },
    ]),
    says: /too much memory/,
  },
  "a delta of a base that is nowhere": {
    pack: packOf([{ type: "ref-delta", base: "1".repeat(40), data: deltaOf(1, 1, [[0, 1]]) }]),
    says: /unresolved delta/,
  },
  "deltas that need each other": {
    pack: packOf([
      { type: "ref-delta", base: "1".repeat(40), data: deltaOf(1, 1, [[0, 1]]) },
      { type: "ofs-delta", base: 40, data: deltaOf(1, 1, [[0, 1]]) },
    ]),
    says: /./,
  },
  "a delta of itself": {
    pack: packOf([{ type: "ofs-delta", base: 0, data: deltaOf(1, 1, [[0, 1]]) }]),
    says: /out of bound/,
  },
  "a delta that begins before the pack": {
    pack: packOf([{ type: "ofs-delta", base: 5_000, data: deltaOf(1, 1, [[0, 1]]) }]),
    says: /out of bound/,
  },
  "a delta that copies from beyond its base": {
    pack: packOf([blob("x"), { type: "ref-delta", base: X, data: deltaOf(1, 100, [[1_000, 100]]) }]),
    says: /gone wild/,
  },
  "a tree without its file": {
    ...withTree([file("f", "1".repeat(40))]),
    says: /did not receive expected object/,
  },
  "a commit without its tree": (() => {
    const data = commitOf("1".repeat(40));
    return {
      to: idOf("commit", data),
      pack: packOf([{ type: "commit", data }]),
      says: /did not receive expected object/,
    };
  })(),
  "a commit without its parent": (() => {
    const tree = treeOf([]);
    const data = commitOf(idOf("tree", tree), ["1".repeat(40)]);
    const pack = packOf([
      { type: "tree", data: tree },
      { type: "commit", data },
    ]);
    return { to: idOf("commit", data), pack, says: /did not receive expected object/ };
  })(),
  "a tree that calls a commit a file": { ...withTree([file("f", "")]), says: /./ },
  "a file called .git": { ...withTree([file(".git")]), says: /hasDotgit/ },
  "a file called .GIT": { ...withTree([file(".GIT")]), says: /hasDotgit/ },
  "a file called git~1": { ...withTree([file("git~1")]), says: /hasDotgit/ },
  "a file called .g\u200cit": { ...withTree([file(".g\u200cit")]), says: /hasDotgit/ },
  "a file called ..": { ...withTree([file("..")]), says: /hasDotdot/ },
  "a file called a/b": { ...withTree([file("a/b")]), says: /fullPathname/ },
  "a file without a name": { ...withTree([file("")]), says: /./ },
  "a file twice": { ...withTree([file("f"), file("f")]), says: /duplicateEntries/ },
  "files in disorder": { ...withTree([file("g"), file("f")]), says: /treeNotSorted/ },
  "a .gitmodules with an option for a url": {
    ...gitmodules('[submodule "a"]\n\tpath = sub\n\turl = --upload-pack=touch /tmp/pwned\n'),
    says: /gitmodulesUrl/,
  },
  "a .gitmodules with a name that leads out": {
    ...gitmodules('[submodule "../../x"]\n\tpath = sub\n\turl = https://example.com/x\n'),
    says: /gitmodulesName/,
  },
  "a .gitmodules that is a link": {
    ...withTree([{ mode: "120000", name: ".gitmodules", id: X }]),
    says: /gitmodulesSymlink/,
  },
  "a commit by nobody": (() => {
    const tree = treeOf([]);
    const data = commitOf(idOf("tree", tree), [], "nobody");
    const pack = packOf([
      { type: "tree", data: tree },
      { type: "commit", data },
    ]);
    return { to: idOf("commit", data), pack, says: /missingEmail|missingNameBeforeEmail/ };
  })(),
};

test("rejects hostile packs with the reason", async () => {
  for (const [what, { to = good.to, pack, says }] of Object.entries(PACKS)) {
    const { status, text } = await postGit(bench, "git-receive-pack", pushOf(to, pack));
    const reason = /unpack (.*)\n/.exec(text)?.[1] ?? "";
    expect([what, status, reason]).toEqual([what, 200, expect.stringMatching(says)]);
    expect([what, reason]).not.toEqual([what, "ok"]);
    expect([what, text]).toEqual([what, expect.stringContaining("ng refs/heads/new unpacker error")]);
    expect(text).not.toContain(bench.api.dataDir);
  }
});

test("reports git's error about an object once, without escape sequences", async () => {
  const evil = gitmodules('[submodule "a"]\n\tpath = sub\n\turl = "--evil\u001b[31m"\n');
  const body = pushOf(evil.to, evil.pack, "report-status side-band-64k");
  const { text } = await postGit(bench, "git-receive-pack", body);
  expect(text.match(/--evil/g)).toHaveLength(1);
  expect(text).not.toContain("\u001b");
});

test("accepts a valid handmade pack", async () => {
  const { to, pack } = withTree([file("g")]);
  const { text } = await postGit(bench, "git-receive-pack", pushOf(to, pack));
  expect(text).toContain("unpack ok");
  expect(text).toContain("ok refs/heads/new");
  await setRefs(bench.hosted.directory, { [MAIN]: first });
});
