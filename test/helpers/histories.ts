import type { Commit, Entry, Files } from "./git-repo.ts";
import { fc } from "./property.ts";

const PATHS = ["a", "b", "d", "d/x", "d/y", "d/e/z", "new/x", "l"] as const;

type Step =
  | { kind: "edit"; path: string; line: number; text: string }
  | { kind: "append"; path: string; text: string }
  | { kind: "delete"; path: string }
  | { kind: "rename"; path: string; to: string }
  | { kind: "renameDirectory"; to: string }
  | { kind: "mode"; path: string }
  | { kind: "entry"; path: string; entry: Entry }
  | { kind: "attributes"; directory: string; rule: string };

// two of them more often, so that both sides meet
const path = fc.constantFrom(...PATHS, "a", "a", "d/x", "d/x");
const text = fc.constantFrom("p", "q", "r\r", "");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("edit" as const), path, line: fc.nat(4), text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("append" as const), path, text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), path }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("rename" as const), path, to: path }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("renameDirectory" as const), to: fc.constantFrom("m", "n") }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mode" as const), path }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("entry" as const),
      path,
      entry: fc.constantFrom<Entry>(
        "",
        "no newline",
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n",
        Uint8Array.of(0, 1, 2, 255),
        Uint8Array.from({ length: 300 }, (_, index) => index % 256),
        { link: "a" },
        { link: "d" },
        { submodule: "1".repeat(40) },
        { submodule: "2".repeat(40) },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("attributes" as const),
      directory: fc.constantFrom("", "d/", "d/e/", "new/"),
      rule: fc.constantFrom("* -merge\n", "* merge=union\n", "x binary\n", "* -diff\n", "z -text\n"),
    }),
  },
);

/** Rounds of work on two branches; between rounds each may merge the other's last round (criss-cross). */
export const history = fc.record({
  start: fc.uniqueArray(path, { minLength: 2, maxLength: 6 }),
  setUp: fc.array(step, { maxLength: 2 }),
  rounds: fc.array(
    fc.record({
      base: fc.array(step, { minLength: 1, maxLength: 4 }),
      head: fc.array(step, { minLength: 1, maxLength: 4 }),
      cross: fc.constantFrom("no", "no", "both", "base", "head"),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

/** The commits of a history, with the branches `base` and `head`. */
export function commitsOf(story: typeof history extends fc.Arbitrary<infer T> ? T : never): Commit[] {
  let files: Files = Object.fromEntries(story.start.map((name) => [name, body(name)]));
  files = story.setUp.reduce(apply, withoutClashes(files));
  const commits: Commit[] = [{ name: "root", files }];
  let base = { name: "root", files };
  let head = { name: "root", files };
  for (const [round, { base: onBase, head: onHead, cross }] of story.rounds.entries()) {
    const was = { base, head };
    base = { name: `base ${round}`, files: onBase.reduce(apply, base.files) };
    head = { name: `head ${round}`, files: onHead.reduce(apply, head.files) };
    commits.push({ ...base, parents: [was.base.name] }, { ...head, parents: [was.head.name] });
    const sides = { base, head };
    if (cross === "both" || cross === "base") {
      base = { name: `base ${round} merged`, files: sides.base.files };
      commits.push({ ...base, parents: [sides.base.name, sides.head.name] });
    }
    if (cross === "both" || cross === "head") {
      head = { name: `head ${round} merged`, files: sides.head.files };
      commits.push({ ...head, parents: [sides.head.name, sides.base.name] });
    }
  }
  commits.push({ name: "base", branch: "base", parents: [base.name], files: base.files });
  commits.push({
    name: "head",
    branch: "head",
    parents: [head.name],
    files: { ...head.files, "head-was-here": "x" },
  });
  return commits;
}

function body(name: string): string {
  return Array.from({ length: 12 }, (_, index) => `${name} line ${index}\n`).join("");
}

function apply(files: Files, action: Step): Files {
  const next = { ...files };
  if (action.kind === "attributes") {
    next[`${action.directory}.gitattributes`] = action.rule;
    return withoutClashes(next, `${action.directory}.gitattributes`);
  }
  if (action.kind === "renameDirectory") {
    for (const [name, entry] of Object.entries(files)) {
      if (!name.startsWith("d/")) continue;
      delete next[name];
      next[`${action.to}/${name.slice(2)}`] = entry;
    }
    return withoutClashes(next);
  }
  const entry = files[action.path];
  switch (action.kind) {
    case "entry":
      next[action.path] = action.entry;
      return withoutClashes(next, action.path);
    case "delete":
      delete next[action.path];
      return next;
    case "rename":
      if (entry === undefined) return next;
      delete next[action.path];
      next[action.to] = entry;
      return withoutClashes(next, action.to);
    case "mode":
      if (typeof entry === "string") next[action.path] = { executable: entry };
      return next;
    case "append":
      if (typeof entry === "string") next[action.path] = `${entry}${action.text}\n`;
      return next;
    case "edit":
      if (typeof entry === "string") next[action.path] = editLine(entry, action.line, action.text);
      return next;
  }
}

function editLine(content: string, line: number, replacement: string): string {
  const all = content.split("\n");
  if (line < all.length) all[line] = replacement;
  return all.join("\n");
}

/** A path cannot be a file and a directory; the path named last wins. */
function withoutClashes(files: Files, winner?: string): Files {
  const names = Object.keys(files).sort((a, b) => Number(b === winner) - Number(a === winner));
  const kept: string[] = [];
  for (const name of names) {
    if (!kept.some((other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`))) kept.push(name);
  }
  return Object.fromEntries(kept.map((name) => [name, files[name] ?? ""]));
}
