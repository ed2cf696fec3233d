import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LOCAL_CODES } from "../../cli/failure.ts";
import { ERROR_STATUS } from "../../src/contract/errors.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/troubleshooting.md"), "utf8");
const [ofServer = "", ofCommandLine = ""] = page.split("\n## The command line\n");
const sections = (text: string): string[] =>
  [...text.matchAll(/^### `([a-z_]+)`$/gm)].map(([, code = ""]) => code);

/** Errors that are printed without a code. */
const WITHOUT_CODE: readonly string[] = ["usage", "cancelled"];
/** Codes of the CLI alone: those that it shares with the server are in the server's part. */
const LOCAL = LOCAL_CODES.filter((code) => !(code in ERROR_STATUS) && !WITHOUT_CODE.includes(code));

test("every code of the API has one section, and every section is of a code", () => {
  expect(sections(ofServer).toSorted()).toEqual(Object.keys(ERROR_STATUS).toSorted());
});

test("every code of the command line has one section, and every section is of a code", () => {
  expect(sections(ofCommandLine).toSorted()).toEqual(LOCAL.toSorted());
});

test("every section says what the code means, and what to do", () => {
  for (const section of page.split(/^### /m).slice(1)) {
    const [title = "", ...lines] = section.split("\n");
    const text = lines.join("\n").split("\n## ")[0] ?? "";
    const [meaning = "", advice = ""] = text.split("**What to do:**");
    expect([title, meaning.trim().length > 20, advice.trim().length > 10]).toEqual([title, true, true]);
  }
});
