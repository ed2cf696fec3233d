import { afterAll, beforeAll, expect } from "bun:test";
import { DESCRIPTION_MAX_BYTES } from "../../src/contract/limits.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import type { Change } from "../helpers/remote.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let count = 0;

beforeAll(async () => {
  if (POSTGRES) bench = await startReviews();
});
afterAll(() => bench?.stop());

/** The templates of a new branch with these files. */
async function list(files: Record<string, Change>) {
  const base = `base-${++count}`;
  bench.remote.commit(base, files, { from: "main" });
  const { status, body } = await bench.call("GET", `/change-request-templates?base=${base}`);
  expect(status).toBe(200);
  return body.templates as { name: string; path: string; body: string; is_default: boolean }[];
}

const DEFAULTS: [what: string, paths: string[]][] = [
  ["svc's own before GitHub's", [".svc/change_request_template.md", ".github/pull_request_template.md"]],
  [".github before the root", [".github/PULL_REQUEST_TEMPLATE.md", "pull_request_template.md"]],
  ["the root before docs", ["Pull_Request_Template.txt", "docs/pull_request_template.md"]],
  ["docs, and a name without an extension", ["docs/PULL_REQUEST_TEMPLATE"]],
  ["a name with hyphens, as gh takes it", ["pull-request-template.md"]],
];

test.each(DEFAULTS)("the default is the first file: %s", async (_, [first = "", ...others]) => {
  const files = Object.fromEntries([first, ...others].map((path) => [path, `of ${path}\n`]));
  const name = first.slice(first.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
  expect(await list(files)).toEqual([{ name, path: first, body: `of ${first}\n`, is_default: true }]);
});

test("those of a folder are no defaults, and follow it", async () => {
  const found = await list({
    ".github/PULL_REQUEST_TEMPLATE/fix.md": "F\n",
    ".github/PULL_REQUEST_TEMPLATE/feature.md": "N\n",
    ".github/PULL_REQUEST_TEMPLATE/picture.png": "P\n",
    "docs/pull_request_template/release.txt": "R\n",
    "docs/pull_request_template.md": "D\n",
  });
  expect(found.map(({ name, is_default }) => [name, is_default])).toEqual([
    ["pull_request_template", true],
    ["feature", false],
    ["fix", false],
    ["release", false],
  ]);
});

test("what is no template is left out: links, other names, folders, no text, and what is too large", async () => {
  const path = "PULL_REQUEST_TEMPLATE";
  const found = await list({
    "secret.md": "S\n",
    "xpull_request_template.md": "x\n",
    "pull_request_template.exe": "x\n",
    ".github/pull_request_template.md/a": "x\n",
    ".svc/change_request_template.txt": "x\n",
    ".svc/pull_request_template.md": "x\n",
    [`${path}/link.md`]: { link: "../secret.md" },
    [`${path}/large.md`]: "x".repeat(DESCRIPTION_MAX_BYTES + 1),
    [`${path}/longest.md`]: "x".repeat(DESCRIPTION_MAX_BYTES),
    [`${path}/latin.md`]: Uint8Array.of(0xe4, 10),
    [`${path}/nul.md`]: "a\0b\n",
  } as Record<string, Change>);
  expect(found.map(({ name }) => name)).toEqual(["longest"]);
});

test("there are at most 16, and without a base they are those of the default branch", async () => {
  const many = Array.from({ length: 20 }, (_, index) => [`PULL_REQUEST_TEMPLATE/${index + 10}.md`, "x\n"]);
  expect(await list(Object.fromEntries(many))).toHaveLength(16);
  expect((await bench.call("GET", "/change-request-templates")).body).toEqual({ templates: [] });
  bench.remote.commit("main", { "pull_request_template.md": "x\n" });
  const { body } = await bench.call("GET", "/change-request-templates");
  expect(body.templates).toHaveLength(1);
  const none = await bench.call("GET", "/change-request-templates?base=no-such-branch");
  expect(none.body.code).toBe("ref_not_found");
});
