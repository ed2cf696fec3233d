import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LocalCode } from "../../cli/failure.ts";
import { ERROR_STATUS } from "../../src/contract/errors.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/troubleshooting.md"), "utf8");
const [ofServer = "", ofCommandLine = ""] = page.split("\n## The command line\n");
const sections = (text: string): string[] =>
  [...text.matchAll(/^### `([a-z_]+)`$/gm)].map(([, code = ""]) => code);

/** Codes of the CLI alone: those that it shares with the server are in the server's part. */
const LOCAL = [
  ...["not_signed_in", "no_project", "project_exists", "link_invalid", "link_mismatch", "host_unknown"],
  ...[
    "config_invalid",
    "config_busy",
    "network",
    "timeout",
    "unexpected_response",
    "login_failed",
    "git",
    "file",
  ],
  ...[
    "manifest_invalid",
    "session_stopped",
    "session_deleted",
    "deployment_failed",
    "run_failed",
    "run_aborted",
  ],
  ...["run_rejected", "run_cut_off", "run_unanswered", "jq"],
] as const satisfies readonly LocalCode[];

test("every code of the API has one section, and every section is of a code", () => {
  expect(sections(ofServer).toSorted()).toEqual(Object.keys(ERROR_STATUS).toSorted());
});

test("the sections on the command line are of its codes", () => {
  expect(sections(ofCommandLine).filter((code) => !LOCAL.some((local) => local === code))).toEqual([]);
  expect(LOCAL.filter((code) => !sections(ofCommandLine).includes(code))).toEqual([]);
});

test("every section says what the code means, and what to do", () => {
  for (const section of page.split(/^### /m).slice(1)) {
    const [title = "", ...lines] = section.split("\n");
    const text = lines.join("\n").split("\n## ")[0] ?? "";
    const [meaning = "", advice = ""] = text.split("**What to do:**");
    expect([title, meaning.trim().length > 20, advice.trim().length > 10]).toEqual([title, true, true]);
  }
});
