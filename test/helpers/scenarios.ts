import type { Comparison } from "../../src/git/git.ts";
import { BYTES, type Commit, type Files } from "./git-repo.ts";

/** One merge: what both sides made of what was there before. */
export interface Row {
  name: string;
  /** null: unrelated histories */
  was: Files | null;
  base: Files;
  head: Files;
  /** null: clean */
  conflicts: string[] | null;
}

const TEN = lines("1", "2", "3", "4", "5", "6", "7", "8", "9", "10");
/** Close to the 4,096 bytes that a path may have on common systems. */
const DEEP = Array.from({ length: 39 }, (_, index) => `${index}`.padStart(99, "d")).join("/");
const LINK = (link: string) => ({ link });
const MODULE = (digit: string) => ({ submodule: digit.repeat(40) });
const X = (text: string) => ({ executable: text });

/** One merge each; what git's own merge gives for it is what we must give. */
export const ROWS: Row[] = [
  row("same line", { f: TEN }, { f: edit(5, "a") }, { f: edit(5, "b") }, ["f"]),
  row("adjacent lines", { f: TEN }, { f: edit(5, "a") }, { f: edit(6, "b") }, ["f"]),
  row("distant lines", { f: TEN }, { f: edit(1, "a") }, { f: edit(9, "b") }, null),
  row("identical edits", { f: TEN }, { f: edit(5, "a") }, { f: edit(5, "a"), n: "1" }, null),
  row("modify and delete", { f: TEN, k: "" }, { f: edit(5, "a"), k: "" }, { k: "" }, ["f"]),
  row("delete and modify", { f: TEN, k: "" }, { k: "" }, { f: edit(5, "a"), k: "" }, ["f"]),
  row("both delete", { f: TEN, k: "" }, { k: "" }, { k: "x" }, null),
  row("both add, different", { k: "" }, { k: "", n: "a\n" }, { k: "", n: "b\n" }, ["n"]),
  row("both add, same", { k: "" }, { k: "", n: "a\n" }, { k: "x", n: "a\n" }, null),
  row("one renamed to two", { o: TEN }, { f: TEN }, { h: TEN }, ["f", "h", "o"]),
  row("two renamed to one", { a: TEN, b: wide("b") }, { c: TEN, b: wide("b") }, { a: TEN, c: wide("b") }, [
    "c",
  ]),
  row("rename and delete", { f: TEN, k: "" }, { g: TEN, k: "" }, { k: "" }, ["g"]),
  row("rename and modify", { f: TEN }, { g: TEN }, { f: edit(5, "a") }, null),
  row("both rename the same, edits clash", { f: TEN }, { g: edit(5, "a") }, { g: edit(5, "b") }, ["g"]),
  row("rename and add", { f: TEN }, { g: TEN }, { f: TEN, g: "other\n" }, ["g"]),
  row(
    "directory renamed, new file in the old one",
    { "x/a": wide("a"), "x/b": wide("b") },
    { "y/a": wide("a"), "y/b": wide("b") },
    { "x/a": wide("a"), "x/b": wide("b"), "x/new": "n\n" },
    ["y/new"],
  ),
  row(
    "directory renamed to two places equally: a conflict without a path",
    { "x/a": wide("a"), "x/b": wide("b"), "x/c": wide("c"), "x/d": wide("d") },
    { "y/a": wide("a"), "y/b": wide("b"), "z/c": wide("c"), "z/d": wide("d") },
    { "x/a": wide("a"), "x/b": wide("b"), "x/c": wide("c"), "x/d": wide("d"), "x/new": "n\n" },
    [],
  ),
  row("file against directory", { k: "" }, { k: "", d: "file\n" }, { k: "", "d/x": "in\n" }, ["d"]),
  row("directory against file", { k: "" }, { k: "", "d/x": "in\n" }, { k: "", d: "file\n" }, ["d"]),
  row("file became directory against edit", { d: TEN }, { "d/x": wide("x") }, { d: edit(5, "a") }, ["d"]),
  row("empty file renamed is not detected", { e: "", k: "" }, { g: "", k: "" }, { e: "now\n", k: "" }, ["e"]),
  row("link retargeted by both", { l: LINK("a") }, { l: LINK("b") }, { l: LINK("c") }, ["l"]),
  row("link and file added", { k: "" }, { k: "", l: LINK("a") }, { k: "", l: "file\n" }, ["l"]),
  row("file became link against edit", { l: TEN }, { l: LINK("a") }, { l: edit(5, "a") }, ["l"]),
  row("submodule moved by both", { s: MODULE("1") }, { s: MODULE("2") }, { s: MODULE("3") }, ["s"]),
  row(
    "submodule moved by one",
    { s: MODULE("1"), k: "" },
    { s: MODULE("2"), k: "" },
    { s: MODULE("1"), k: "x" },
    null,
  ),
  row("submodule added by both", { k: "" }, { k: "", s: MODULE("2") }, { k: "", s: MODULE("3") }, ["s"]),
  row("submodule deleted and moved", { s: MODULE("1"), k: "" }, { k: "" }, { s: MODULE("3"), k: "" }, ["s"]),
  row("submodule against file", { k: "" }, { k: "", s: MODULE("2") }, { k: "", s: "file\n" }, ["s"]),
  row("submodule against directory", { k: "" }, { k: "", s: MODULE("2") }, { k: "", "s/x": "in\n" }, ["s"]),
  row("mode changed by one", { f: TEN }, { f: X(TEN) }, { f: TEN, k: "x" }, null),
  row("mode and content", { f: TEN }, { f: X(TEN) }, { f: edit(5, "a") }, null),
  row("both add with different modes", { k: "" }, { k: "", n: TEN }, { k: "", n: X(TEN) }, ["n"]),
  row("binary changed by both", { b: bin(0) }, { b: bin(1) }, { b: bin(2) }, ["b"]),
  row("binary changed by one", { b: bin(0), k: "" }, { b: bin(1), k: "" }, { b: bin(0), k: "x" }, null),
  row("no newline at the end, both append", { f: "a" }, { f: "a\nb" }, { f: "a\nc" }, ["f"]),
  row(
    "newline added by one, far edit",
    { f: `${TEN}x` },
    { f: `${TEN}x\n` },
    { f: `${edit(1, "a")}x` },
    null,
  ),
  row(
    "line ends flipped against edit",
    { f: TEN },
    { f: TEN.replaceAll("\n", "\r\n") },
    { f: edit(5, "a") },
    ["f"],
  ),
  row(
    "merge=union on the base counts",
    { f: TEN, ".gitattributes": "f merge=union\n" },
    { f: edit(5, "a"), ".gitattributes": "f merge=union\n" },
    { f: edit(5, "b"), ".gitattributes": "f merge=union\n" },
    null,
  ),
  row(
    "merge=union only on head does not",
    { f: TEN },
    { f: edit(5, "a") },
    { f: edit(5, "b"), ".gitattributes": "* merge=union\n" },
    ["f"],
  ),
  row(
    "-merge in a directory of the base counts",
    { "d/e/f": TEN, "d/.gitattributes": "f -merge\n" },
    { "d/e/f": edit(1, "a"), "d/.gitattributes": "f -merge\n" },
    { "d/e/f": edit(9, "b"), "d/.gitattributes": "f -merge\n" },
    ["d/e/f"],
  ),
  row(
    "attributes behind a symbolic link do not count",
    { f: TEN, ".gitattributes": LINK("x"), x: "f merge=union\n" },
    { f: edit(5, "a"), ".gitattributes": LINK("x"), x: "f merge=union\n" },
    { f: edit(5, "b"), ".gitattributes": LINK("x"), x: "f merge=union\n" },
    ["f"],
  ),
  row(
    "a long line",
    { f: "x".repeat(300_000) },
    { f: "y".repeat(300_000) },
    { f: "x".repeat(300_000), k: "x" },
    null,
  ),
  ...[
    " a",
    'q"uote',
    "ta\tb",
    "line\nfeed",
    "back\\slash",
    "-x",
    "--opt=x",
    ":colon",
    "*",
    "~tilde",
    "a~HEAD",
    "grün",
    "日本",
    "\u001b[31m",
    "\u202ertl",
    "x".repeat(255),
  ].map((path) =>
    row(
      `the name ${JSON.stringify(path.slice(0, 20))}`,
      { [path]: TEN },
      { [path]: edit(5, "a") },
      { [path]: edit(5, "b") },
      [path],
    ),
  ),
  row(
    "a name that is not UTF-8",
    { [`${BYTES}\xff\xfe`]: TEN },
    { [`${BYTES}\xff\xfe`]: edit(5, "a") },
    { [`${BYTES}\xff\xfe`]: edit(5, "b") },
    ["\ufffd\ufffd"],
  ),
  row("names that differ in case", { k: "" }, { k: "", README: "a\n" }, { k: "", readme: "b\n" }, null),
  row("LFS pointers changed by both", { "x.bin": lfs("1") }, { "x.bin": lfs("2") }, { "x.bin": lfs("3") }, [
    "x.bin",
  ]),
  row(
    ".gitmodules changed by both",
    { ".gitmodules": gitmodules("a"), s: MODULE("1") },
    { ".gitmodules": gitmodules("b"), s: MODULE("1") },
    { ".gitmodules": gitmodules("c"), s: MODULE("1") },
    [".gitmodules"],
  ),
  row("white space against content", { f: TEN }, { f: TEN.replaceAll(" ", "  ") }, { f: edit(5, "a") }, [
    "f",
  ]),
  row(
    "NUL so far into a file that git takes it for text",
    { f: `${TEN.repeat(200)}\0` },
    { f: `${edit(1, "a")}${TEN.repeat(199)}\0` },
    { f: `${TEN.repeat(199)}${edit(9, "b")}\0` },
    null,
  ),
  row("a path of many parts", { [DEEP]: TEN }, { [DEEP]: edit(5, "a") }, { [DEEP]: edit(5, "b") }, [DEEP]),
  row("names that differ in form", { k: "" }, { k: "", "\u00e9": "a\n" }, { k: "", "e\u0301": "b\n" }, null),
  row("unrelated histories", null, { f: "a\n" }, { f: "b\n" }, []),
];

/** The commits of a row, on the branches `<index>/base` and `<index>/head`. */
export function rowCommits({ name, was, base, head }: Row, index: number): Commit[] {
  const parents = was ? [`${name}: was`] : [];
  return [
    ...(was ? [{ name: `${name}: was`, files: was }] : []),
    { name: `${name}: base`, branch: `${index}/base`, parents, files: base },
    { name: `${name}: head`, branch: `${index}/head`, parents, files: head },
  ];
}

/** Histories of several shapes, by the names of their commits. */
export const TOPOLOGY: Commit[] = [
  { name: "root", branch: "t/root", files: { f: TEN } },
  { name: "empty", branch: "t/empty", parents: ["root"], files: { f: TEN } },
  { name: "b1", parents: ["root"], files: { f: edit(1, "b") } },
  { name: "h1", parents: ["root"], files: { f: edit(9, "h") } },
  { name: "b2", branch: "t/b2", parents: ["b1", "h1"], files: { f: edit(1, "b", edit(9, "h")) } },
  { name: "h2", branch: "t/h2", parents: ["h1", "b1"], files: { f: edit(1, "b", edit(9, "h")), n: "n" } },
  { name: "c1", parents: ["root"], files: { f: edit(5, "c") } },
  { name: "d1", parents: ["root"], files: { f: edit(5, "d") } },
  { name: "c2", branch: "t/c2", parents: ["c1", "d1"], files: { f: edit(5, "c") } },
  { name: "d2", branch: "t/d2", parents: ["d1", "c1"], files: { f: edit(5, "d") } },
  { name: "p1", parents: ["root"], files: { f: TEN, p: "1" } },
  { name: "p2", parents: ["root"], files: { f: TEN, q: "2" } },
  { name: "p3", parents: ["root"], files: { f: TEN, r: "3" } },
  {
    name: "all",
    branch: "t/all",
    parents: ["p1", "p2", "p3"],
    files: { f: edit(1, "b"), p: "1", q: "2", r: "3" },
  },
  {
    name: "all2",
    branch: "t/all2",
    parents: ["p3", "p2", "p1"],
    files: { f: edit(9, "h"), p: "1", q: "2", r: "3" },
  },
  { name: "pick", branch: "t/pick", parents: ["b1"], files: { f: edit(1, "b", edit(9, "h")) } },
  {
    name: "octopus",
    branch: "t/octopus",
    parents: ["root", "b1", "h1"],
    files: { f: edit(1, "b", edit(9, "h")) },
  },
];

/** Name, base commit, head commit, and what is to be said of merging them. */
export const TOPOLOGY_ROWS: [string, string, string, Partial<Comparison>][] = [
  ["fast-forward", "root", "b1", { canMerge: true, canFastForward: true, isUpToDate: false }],
  ["head is an ancestor", "b1", "root", { canMerge: true, canFastForward: false, isUpToDate: true }],
  ["the same commit", "b1", "b1", { canMerge: true, canFastForward: false, isUpToDate: true }],
  ["ahead by an empty commit", "root", "empty", { canMerge: true, canFastForward: true, isUpToDate: false }],
  ["cherry-picked on base", "pick", "h1", { canMerge: true, canFastForward: false, conflicts: [] }],
  ["criss-cross, clean", "b2", "h2", { canMerge: true, canFastForward: false }],
  ["criss-cross, resolved the other way", "c2", "d2", { canMerge: false, conflicts: ["f"] }],
  ["three merge bases", "all", "all2", { canMerge: true, canFastForward: false, conflicts: [] }],
  ["octopus in head", "b1", "octopus", { canMerge: true, canFastForward: true }],
];

function row(name: string, was: Files | null, base: Files, head: Files, conflicts: string[] | null): Row {
  return { name, was, base, head, conflicts };
}

function lines(...all: string[]): string {
  return all.map((line) => `line ${line}\n`).join("");
}

export function edit(line: number, text: string, of = TEN): string {
  return of
    .split("\n")
    .map((old, index) => (index === line - 1 ? `changed ${text}` : old))
    .join("\n");
}

function wide(text: string): string {
  return Array.from({ length: 12 }, (_, index) => `${text} ${index} ${text.repeat(5)}\n`).join("");
}

function bin(seed: number): Uint8Array {
  return Uint8Array.from({ length: 200 }, (_, index) => (index * (seed + 7)) % 256);
}

function lfs(digit: string): string {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${digit.repeat(64)}\nsize 12345\n`;
}

function gitmodules(name: string): string {
  return `[submodule "s"]\n\tpath = s\n\turl = https://example.com/${name}.git\n`;
}
