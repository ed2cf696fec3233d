import { expect, test } from "bun:test";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import { SvcError } from "../../src/contract/errors.ts";
import { REF_MAX_BYTES } from "../../src/contract/limits.ts";
import { checkBranchName, refFault } from "../../src/git/refs.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";

const LEGAL = [
  "main",
  "feature/x",
  "ünï",
  "🚀",
  "a&b",
  "$(id)",
  "`id`",
  ";",
  '"',
  "%2e%2e",
  "%2e",
  "@",
  "heads/main",
  "a~".slice(0, 1),
  "x.locks",
  "refs/x",
  "a-",
  "{",
  "@x",
  "x@",
  `x${"a".repeat(40)}`,
  `${"a".repeat(40)}x`,
  "a".repeat(41),
  "g".repeat(40),
  "a".repeat(REF_MAX_BYTES),
  "a\u00a0b",
];
const ILLEGAL = [
  "",
  "-x",
  "--upload-pack=x",
  "--upload-pack=touch x",
  "HEAD",
  "refs/heads/HEAD",
  "refs/heads/",
  "refs/heads/-x",
  "a".repeat(40),
  "0123456789abcdef".repeat(4),
  "0123456789ABCDEF".repeat(4),
  "9".repeat(40),
  "f".repeat(40),
  "F".repeat(40),
  "9".repeat(64),
  "a\x80b",
  "a\x9fb",
  "a\x1fb",
  "a..b",
  "@{-1}",
  "@{u}",
  "main~0",
  "main^0",
  "main@{0}",
  ":/c1",
  "main:f",
  "x.lock",
  "x.lock/y",
  ".hidden",
  "a/.b",
  "end.",
  "end/",
  "/",
  "//",
  "a//b",
  "/a",
  " ",
  "a b",
  "a\tb",
  "a\nb",
  "a\0b",
  "a\x7fb",
  "*",
  "?",
  "[",
  "\\",
  "\ud800",
  "a".repeat(REF_MAX_BYTES + 1),
  "é".repeat(123),
];

test.each(LEGAL)("%p is a branch name", (name) => {
  expect(checkBranchName(name)).toBe(name);
  expect(checkBranchName(`refs/heads/${name}`)).toBe(name);
});

test.each(ILLEGAL)("%p is not a branch name", (name) => {
  expect(() => checkBranchName(name)).toThrow(SvcError);
});

test.each([
  ["refs/heads/main", null],
  ["refs/tags/v1", null],
  ["refs/zz/x", null],
  ["refs/heads/a/b", null],
  ["main", "it is no full name, such as refs/heads/main"],
  ["refs/heads", "it is no full name, such as refs/heads/main"],
  ["refs//x", "it is no full name, such as refs/heads/main"],
  ["refs/cr/x", null],
  ["refs/1/x", "it is no full name, such as refs/heads/main"],
  ["xrefs/heads/main", "it is no full name, such as refs/heads/main"],
  ["refs/heads/", "it is empty"],
  ["refs/heads/a\nb", "it holds a control character"],
  ["refs/tags/HEAD", "“HEAD” is reserved"],
])("the fault of the full name %j: %p", (ref, fault) => {
  expect(refFault(ref)).toBe(fault);
});

test("names that git check-ref-format --branch rejects are rejected, and all others pass, with known exceptions", () => {
  const piece = fc.constantFrom(
    "a",
    "b",
    "/",
    ".",
    "..",
    "@",
    "{",
    "}",
    "~",
    "^",
    ":",
    "?",
    "*",
    "[",
    "]",
    "\\",
    " ",
    "-",
    ".lock",
    "HEAD",
    "ü",
    "\t",
    "\x7f",
    "$",
    '"',
    "%",
    "refs/heads/",
  );
  const name = fc.oneof(
    fc.array(piece, { maxLength: 6 }).map((parts) => parts.join("")),
    fc.string({ maxLength: 12, unit: "binary" }),
  );
  fc.assert(
    fc.property(name, (text) => {
      const ours = accepts(text);
      const short = text.replace(/^refs\/heads\//, "");
      // what cannot be an argument at all
      if (text.includes("\0") || !text.isWellFormed()) return !ours;
      const child = Bun.spawnSync(["git", "check-ref-format", "--branch", short], {
        env: GIT_ENVIRONMENT,
        stdout: "pipe",
        stderr: "ignore",
      });
      const theirs = child.exitCode === 0 && child.stdout.toString() === `${short}\n`;
      const refusedByUsOnly = /[\u0080-\u009f]/.test(short) || short === "HEAD";
      return ours === (theirs && !refusedByUsOnly && !short.startsWith("-"));
    }),
    { numRuns: share(80, 10_000) },
  );
});

function accepts(text: string): boolean {
  try {
    checkBranchName(text);
    return true;
  } catch {
    return false;
  }
}
