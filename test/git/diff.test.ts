import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { DiffSummary, Git, Repository } from "../../src/git/git.ts";
import {
  BYTES,
  createRepository,
  createTestGit,
  type Files,
  runGit,
  temporary,
} from "../helpers/git-repo.ts";

const TRICKY =
  "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\ndiff --git a/x b/x\nBinary files a and b differ\nGIT binary patch\n";

const FROM: Files = {
  edited: "1\n2\n3\n",
  gone: "a\nb\n",
  "mode only": "x\n",
  link: { link: "edited" },
  file: "text\n",
  sub: { submodule: "1".repeat(40) },
  binary: Uint8Array.of(0, 1, 2),
  tricky: TRICKY,
  end: "no newline",
  crlf: "a\r\nb\r\n",
  "moved/a": "same\n",
};
const TO: Files = {
  edited: "1\n2\nthree\nfour\n",
  "mode only": { executable: "x\n" },
  link: "a file now\n",
  file: { link: "edited" },
  sub: { submodule: "2".repeat(40) },
  binary: Uint8Array.of(0, 3, 4),
  tricky: `-- x\n${TRICKY}++ y\n`,
  end: "no newline either",
  crlf: "a\r\nb\n",
  "moved/b": "same\n",
  empty: "",
  ' q"uo\\te\t\n': "odd\n",
  [`${BYTES}\xff`]: "bytes\n",
  long: `${"x".repeat(400_000)}\n`,
};

test("returns statuses, counts and a patch that applies", async () => {
  await using place = await start(FROM, TO);
  const { summary, patch } = await place.diff();
  const rows = summary.files.map(({ path, ...rest }) => [
    Buffer.from(path).toString("latin1"),
    ...Object.values(rest),
  ]);
  expect(rows).toEqual([
    [' q"uo\\te\t\n', "added", 1, 0, false],
    ["binary", "modified", 0, 0, true],
    ["crlf", "modified", 1, 1, false],
    ["edited", "modified", 2, 1, false],
    ["empty", "added", 0, 0, false],
    ["end", "modified", 1, 1, false],
    ["file", "modified", 1, 1, false],
    ["gone", "deleted", 0, 2, false],
    ["link", "modified", 1, 1, false],
    ["long", "added", 1, 0, false],
    ["mode only", "modified", 0, 0, false],
    ["moved/a", "deleted", 0, 1, false],
    ["moved/b", "added", 1, 0, false],
    ["sub", "modified", 1, 1, false],
    ["tricky", "modified", 2, 0, false],
    ["\xff", "added", 1, 0, false],
  ]);
  expect(summary.truncated).toBe(false);
  await place.applies(patch);
});

test("returns each file complete with its entry and counts", async () => {
  await using place = await start(FROM, TO);
  const seen: string[] = [];
  const summary = await place.git.diff(place.repo, {
    ...place.request,
    onPatch(piece, entry) {
      const text = Buffer.from(piece).toString("latin1");
      expect(text.startsWith("diff --git ")).toBe(true);
      const added = entry.binary || entry.status === "deleted" ? 0 : entry.additions;
      if (!entry.binary)
        expect(text.match(/^\+(?!\+\+ )/gm)?.length ?? 0).toBeGreaterThanOrEqual(Math.min(added, 1));
      seen.push(Buffer.from(entry.path).toString("latin1"));
      return true;
    },
  });
  expect(seen).toEqual(summary.files.map((file) => Buffer.from(file.path).toString("latin1")));
});

/** Names that git quotes, that look like another's header, and that are long. */
const NAMES = [
  ...["a", "a b", "b/a b/a", "x b/x", "x", '"', "\\", "tab\t", "\u0001\u007f", "ü", `${BYTES}\xff`, "nl\n"],
  ...["\u0007\b\v\f\r", `${"long/".repeat(40)}1`, `${"long/".repeat(40)}2`, "diff --git a/q b/q"],
];

test.each([0, 1, 2])(
  "ignoring white space, each remaining file has its own patch and counts (%p)",
  async (turn) => {
    const isOnlySpace = (index: number) => index % 3 === turn;
    const files = (content: (index: number) => string) =>
      Object.fromEntries(NAMES.map((name, index) => [name, content(index)]));
    const from = files(() => "one\ntwo\n");
    const to = files((index) => (isOnlySpace(index) ? " one\n\ttwo \n" : `one \n${"2\n".repeat(index + 1)}`));
    await using place = await start({ ...FROM, ...from }, { ...TO, ...to });
    const strict = await place.diff();
    const seen = new Map<string, string>();
    const summary = await place.git.diff(place.repo, {
      ...place.request,
      ignoreWhitespace: true,
      onPatch(piece, { path }) {
        const name = Buffer.from(path).toString("latin1");
        seen.set(name, (seen.get(name) ?? "") + Buffer.from(piece).toString("latin1"));
        return true;
      },
    });
    const names = (files: DiffSummary["files"]) =>
      files.map(({ path }) => Buffer.from(path).toString("latin1"));
    expect(names(summary.files)).toEqual(names(strict.summary.files));
    for (const [index, name] of NAMES.entries()) {
      const bytes = name.startsWith(BYTES)
        ? name.slice(BYTES.length)
        : Buffer.from(name, "utf8").toString("latin1");
      const file = summary.files[names(summary.files).indexOf(bytes)];
      const counts = isOnlySpace(index) ? [0, 0] : [index + 1, 1];
      expect([name, file?.additions, file?.deletions]).toEqual([name, ...counts]);
      expect([
        name,
        seen
          .get(bytes)
          ?.split("\n")
          .filter((line) => line === "+2").length ?? 0,
      ]).toEqual([name, counts[0] ?? 0]);
    }
    const others = new Set(NAMES);
    for (const file of strict.summary.files) {
      const [name = ""] = names([file]);
      if (others.has(name) || name === "crlf" || !(name in TO)) continue;
      expect(summary.files.find(({ path }) => Buffer.from(path).equals(Buffer.from(file.path)))).toEqual(
        file,
      );
    }
  },
);

/** Text of which one line in ten differs between two versions. */
const alike = (word: string, version: number) =>
  Array.from({ length: 20 }, (_, at) => `${word} ${at % 10 === 0 ? version : at}\n`).join("");

describe.each([false, true])("renames are paired (ignoring white space: %p)", (ignoreWhitespace) => {
  test("as git does, with the patch and the counts of each file", async () => {
    const from: Files = {
      ...FROM,
      same: alike("same", 1),
      "old/edited": alike("edited", 1),
      copied: alike("c", 1),
    };
    const to: Files = { ...TO, copied: alike("c", 1), copy: alike("c", 1), "new/same": alike("same", 1) };
    const renamed = NAMES.map((name, at) => [`from ${at}/${name}`, `to/${name}`] as const);
    for (const [at, [before, after]] of renamed.entries()) {
      // what git quotes stands in front of the name here, so that each is still another name
      from[before.replace(/^(from \d+\/)(latin1:)/, "$2$1")] = alike(`name ${at}`, 1);
      to[after.replace(/^(to\/)(latin1:)/, "$2$1")] = alike(`name ${at}`, at % 2);
    }
    to["new/edited"] = { executable: alike("edited", 2) };
    await using place = await start(from, to);
    const pieces = new Map<string, string>();
    const keyOf = (path: Uint8Array) => Buffer.from(path).toString("latin1");
    const summary = await place.git.diff(place.repo, {
      ...{ ...place.request, pairRenames: true, ignoreWhitespace },
      onPatch(piece, { path }) {
        pieces.set(keyOf(path), (pieces.get(keyOf(path)) ?? "") + Buffer.from(piece).toString("latin1"));
        return true;
      },
    });
    const rows = (await place.ofBoth("diff-tree", "-r", "-z", "--name-status", "-M"))
      .split("\0")
      .slice(0, -1);
    const expected: string[] = [];
    for (let at = 0; at < rows.length; ) {
      const [letter = "", first = ""] = rows.slice(at, at + 2);
      expected.push(letter.startsWith("R") ? `R ${first} ${rows[at + 2]}` : `${letter} ${first}`);
      at += letter.startsWith("R") ? 3 : 2;
    }
    const LETTERS = { added: "A", deleted: "D", modified: "M", renamed: "R" } as const;
    const shown = summary.files.map(({ status, from: before, path }) =>
      [LETTERS[status], ...(before ? [keyOf(before)] : []), keyOf(path)].join(" "),
    );
    expect(shown).toEqual(expected.map((row) => row.replace(/^T/, "M")));
    expect(shown.filter((row) => row.startsWith("R")).length).toBe(NAMES.length + 3);
    for (const [at, [, after]] of renamed.entries()) {
      const path = Buffer.from(
        after.replace(/^to\/latin1:/, "to/"),
        after.includes(BYTES) ? "latin1" : "utf8",
      );
      const file = summary.files.find((each) => Buffer.from(each.path).equals(path));
      const changed = at % 2 === 1 ? 0 : 2;
      expect([after, file?.additions, file?.deletions]).toEqual([after, changed, changed]);
      const patch = pieces.get(path.toString("latin1")) ?? "";
      expect(patch.match(/^diff --git /gm)?.length).toBe(1);
      expect(patch.match(/^\+name /gm)?.length ?? 0).toBe(changed);
    }
    if (!ignoreWhitespace) await place.applies(Buffer.from([...pieces.values()].join(""), "latin1"));
  });
});

test("a reader that stops gets no more, and all files are still counted", async () => {
  await using place = await start(FROM, TO);
  let calls = 0;
  const whole = await place.diff();
  const summary = await place.git.diff(place.repo, { ...place.request, onPatch: () => ++calls < 3 });
  expect(calls).toBe(3);
  expect(summary).toEqual(whole.summary);
});

test("a patch over the limit is returned in complete pieces, in little memory", async () => {
  const line = `${"y".repeat(99)}\n`;
  await using place = await start({ a: "" }, { a: "", big: line.repeat(100_000), z: "1\n" });
  const before = process.memoryUsage().rss;
  let bytes = 0;
  let pieces = 0;
  let peak = 0;
  const summary = await place.git.diff(place.repo, {
    ...place.request,
    async onPatch(piece, entry) {
      bytes += piece.length;
      if (Buffer.from(entry.path).toString() === "big") pieces++;
      await Bun.sleep(1);
      peak = Math.max(peak, process.memoryUsage().rss);
      return true;
    },
  });
  expect(pieces).toBeGreaterThan(1);
  expect(bytes).toBeGreaterThan(10_000_000);
  expect(summary.files.map((file) => file.additions)).toEqual([100_000, 1]);
  expect(peak - before).toBeLessThan(80_000_000);
});

test("git is stopped at the limit of files", async () => {
  const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, `${index}\n`]));
  await using place = await start({}, files);
  const summary = await place.git.diff(place.repo, { ...place.request, maxFiles: 20, onPatch: () => true });
  expect(summary).toMatchObject({ truncated: true });
  expect(summary.files.length).toBe(20);
  const exact = await place.git.diff(place.repo, { ...place.request, maxFiles: 50, onPatch: () => true });
  expect(exact.truncated).toBe(false);
});

test("applies the base's attributes, not the head's", async () => {
  const hide = { ".gitattributes": "* -diff\n", "d/.gitattributes": "* binary\n" };
  await using hidden = await start({ "d/f": "1\n", g: "1\n" }, { "d/f": "2\n", g: "2\n", ...hide });
  const open = await hidden.diff();
  expect(open.summary.files.filter((file) => file.binary)).toEqual([]);
  await using marked = await start({ "d/f": "1\n", g: "1\n", ...hide }, { "d/f": "2\n", g: "2\n" });
  const { summary, patch } = await marked.diff();
  const changed = summary.files.filter((file) => file.status === "modified");
  expect(changed.map((file) => file.binary)).toEqual([true, true]);
  await marked.applies(patch);
});

test("can start from a merge base or the empty tree", async () => {
  await using place = await start({ a: "1\n" }, { a: "2\n" });
  const from = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
  const summary = await place.git.diff(place.repo, { ...place.request, from, onPatch: () => true });
  expect(summary.files).toMatchObject([{ status: "added", additions: 1 }]);
  const none = await place.git.diff(place.repo, {
    ...place.request,
    from: place.request.to,
    onPatch: () => true,
  });
  expect(none).toEqual({ files: [], truncated: false });
});

test("a reader that disconnects stops git", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [`f${index}`, `${index}\n`.repeat(200)]),
  );
  await using place = await start({}, files);
  const stop = new AbortController();
  const diff = place.git.diff(place.repo, {
    ...place.request,
    signal: stop.signal,
    onPatch() {
      stop.abort();
      return true;
    },
  });
  expect(diff).rejects.toMatchObject({ code: "merge_engine_failed" });
  await diff.catch(() => {});
});

interface Place extends AsyncDisposable {
  git: Git;
  repo: Repository;
  request: { from: string; to: string; attributes: string; maxFiles: number };
  /** Runs git on the two commits, and returns its output as latin1. */
  ofBoth(...args: string[]): Promise<string>;
  diff(): Promise<{ summary: DiffSummary; patch: Buffer }>;
  /** Holds the patch against `git apply`. */
  applies(patch: Buffer): Promise<void>;
}

async function start(from: Files, to: Files): Promise<Place> {
  const directory = await temporary();
  const upstream = await createRepository(join(directory.path, "up"));
  const ids = await upstream.write([
    { name: "from", branch: "main", files: from },
    { name: "to", branch: "work", parents: ["from"], files: to },
  ]);
  const engine = await createTestGit({ dataDir: join(directory.path, "data") });
  const repo = engine.repo(upstream.url);
  await engine.git.ensureCommits(repo, Object.values(ids));
  const request = {
    from: ids["from"] ?? "",
    to: ids["to"] ?? "",
    attributes: ids["from"] ?? "",
    maxFiles: 10_000,
  };
  return {
    git: engine.git,
    repo,
    request,
    async ofBoth(...args) {
      const { stdout } = await runGit(upstream.directory, [...args, request.from, request.to]);
      return stdout.toString("latin1");
    },
    async diff() {
      const pieces: Uint8Array[] = [];
      const summary = await engine.git.diff(repo, { ...request, onPatch: (piece) => pieces.push(piece) > 0 });
      return { summary, patch: Buffer.concat(pieces) };
    },
    async applies(patch) {
      const env = { GIT_INDEX_FILE: join(directory.path, "index") };
      await runGit(upstream.directory, ["read-tree", request.from], { env });
      await runGit(upstream.directory, ["apply", "--cached", "-"], { env, stdin: patch });
      const tree = await runGit(upstream.directory, ["write-tree"], { env });
      expect(tree.stdout.toString().trim()).toBe(await upstream.git("rev-parse", `${request.to}^{tree}`));
    },
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}
