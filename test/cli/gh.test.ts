import { expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "../../cli/arguments.ts";
import { splitWords } from "../../cli/split-words.ts";
import { TABLE } from "../../cli/table.ts";

const page = await Bun.file(join(import.meta.dir, "../../docs/gh.md")).text();
const LINES = [...page.matchAll(/^\| `gh ([^`]+)` \| `svc ([^`]+)` \|$/gm)].map(([, gh = "", svc = ""]) => ({
  gh,
  svc,
}));

test("the page has at least 40 tasks of gh, each once", () => {
  expect(LINES.length).toBeGreaterThanOrEqual(40);
  expect(new Set(LINES.map(({ gh }) => gh)).size).toBe(LINES.length);
});

test.each(LINES)("gh $gh is one command: svc $svc", ({ svc }) => {
  const parsed = parse(TABLE, splitWords(svc.replace("<sha>", "a".repeat(40))), () => true);
  expect(parsed.kind).toBe("run");
});
