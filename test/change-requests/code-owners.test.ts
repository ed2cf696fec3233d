import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseOwners } from "../../src/features/change-requests/code-owners/parse.ts";
import { matcherOf } from "../../src/features/change-requests/code-owners/pattern.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";
import { git } from "../helpers/remote.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-owners-"));
git(["init", "-q", folder]);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The paths that git would ignore with this pattern alone. */
function ignored(pattern: string, paths: readonly string[]): string[] {
  const rules = join(folder, "rules");
  writeFileSync(rules, `${pattern}\n`);
  const { stdout, status } = spawnSync(
    "git",
    ["-C", folder, "-c", `core.excludesFile=${rules}`, "check-ignore", "--no-index", "-z", "--stdin"],
    { input: paths.join("\0"), encoding: "utf8" },
  );
  if (status !== 0 && status !== 1) throw new Error(`git check-ignore ended with ${status}`);
  return stdout.split("\0").filter((path) => path !== "");
}

const name = fc.stringMatching(/^[ab.]{0,2}[ab]$/);
const part = fc.oneof(fc.stringMatching(/^(\*?[ab.?]\*?){1,3}$/), fc.constantFrom("*", "**", "a", "b"));
const pattern = fc
  .tuple(fc.constantFrom("", "/"), fc.array(part, { minLength: 1, maxLength: 4 }), fc.constantFrom("", "/"))
  .map(([start, parts, end]) => start + parts.join("/") + end)
  .filter((one) => !one.includes("***") && !/[^*/]\*\*|\*\*[^*/]/.test(one));
const paths = fc.array(
  fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/")),
  { minLength: 20, maxLength: 20 },
);

test("patterns match what git ignores with them, but for a last /*", () => {
  fc.assert(
    fc.property(
      pattern.filter((one) => !/\/\*$/.test(one)),
      paths,
      (one, given) => {
        expect(given.filter(matcherOf(one))).toEqual(ignored(one, given));
      },
    ),
    { numRuns: share(60, 2_000) },
  );
});

const MATCHES: [pattern: string, matched: string[], not: string[]][] = [
  ["*", ["a", "a/b"], []],
  ["/*", ["a"], ["a/b"]],
  ["docs/*", ["docs/a.md"], ["docs/build/a.md", "x/docs/a.md"]],
  ["apps/", ["apps/a", "x/apps/a/b"], ["apps"]],
  ["/apps/", ["apps/a/b"], ["x/apps/a", "apps"]],
  ["/apps", ["apps", "apps/a"], ["x/apps"]],
  ["**/logs", ["logs/a", "x/logs/a", "logs"], ["logsx"]],
  ["*.js", ["a.js", "x/.js", "a.js/b"], ["a.jsx", "A.JS"]],
  ["a/**/b", ["a/b", "a/x/y/b/z"], ["ab", "x/a/b"]],
  ["a/**", ["a/b/c"], ["a"]],
];

test.each(MATCHES)("%s", (one, matched, not) => {
  expect([...matched, ...not].filter(matcherOf(one))).toEqual(matched);
});

test("a pattern of many stars is not slow", () => {
  expect(matcherOf(`${"*a".repeat(500)}*b`)("a".repeat(4_000))).toBe(false);
});

test("comments, escaped spaces, lines without owners and other ends of lines", () => {
  const { rules, problems } = parseOwners(
    "# all\n\n*\t@ada  bob@example.com # why @not\r\n/my\\ docs/ @Ada\\ Lovelace\n/free\n",
  );
  expect(problems).toEqual([]);
  expect(rules.map(({ line, owners }) => [line, ...owners])).toEqual([
    [3, "@ada", "bob@example.com"],
    [4, "@Ada Lovelace"],
    [5],
  ]);
  expect(rules[1]?.matches("my docs/a")).toBe(true);
});

const INVALID: [line: string, message: string, rules: number][] = [
  ["!a @ada", "negated", 0],
  ["[ab] @ada", "ranges", 0],
  ["\\#a @ada", "begin with #", 0],
  ["/ @ada", "names no file", 0],
  [`${"a".repeat(1_025)} @ada`, "1024 characters", 0],
  ["a ada", "@name or an e-mail address", 1],
  ["a @", "@name or an e-mail address", 1],
  ["a @org/team", "teams are not supported", 1],
];

test.each(INVALID)("%s is reported with its line", (line, message, count) => {
  const { rules, problems } = parseOwners(`\n${line}`);
  expect(problems).toEqual([{ line: 2, message: expect.stringContaining(message) }]);
  expect(rules.map(({ owners }) => owners)).toEqual(Array(count).fill([]));
});

test("patterns past the limit are ignored, and one problem says so", () => {
  const { rules, problems, unreadLine } = parseOwners("a @ada\n".repeat(2_002));
  expect([rules.length, problems.map(({ line }) => line), unreadLine]).toEqual([2_000, [2_001], 2_001]);
});
