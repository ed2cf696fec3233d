import { expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "../../cli/arguments.ts";
import { renderDocs } from "../../cli/docs.ts";
import { DATA, GLOBAL } from "../../cli/flags.ts";
import { type Flag, isGroup, namesOf } from "../../cli/spec.ts";
import { CR_FIELDS, DIFF_FIELDS } from "../../cli/table/cr.ts";
import { PROJECT_FIELDS } from "../../cli/table/projects.ts";
import { BRANCH_FIELDS, COMMIT_FIELDS, CONTENTS_FIELDS, ENTRY_FIELDS } from "../../cli/table/repo.ts";
import { PROMPT_FIELDS } from "../../cli/table/session-prompts.ts";
import { SESSION_FIELDS } from "../../cli/table/sessions.ts";
import { TABLE } from "../../cli/table.ts";
import { changeRequest, changeRequestDiff } from "../../src/contract/change-request.ts";
import { editDistance, nearest } from "../../src/contract/nearest.ts";
import { project } from "../../src/contract/project.ts";
import { prompt } from "../../src/contract/prompt.ts";
import { branch, commit, fileContents, treeEntry } from "../../src/contract/repository.ts";
import { session } from "../../src/contract/session.ts";
import { diff } from "../helpers/cli-api.ts";

const SPECS = TABLE.flatMap((node) => (isGroup(node) ? node.commands : [node])).map(
  (command) => command.spec,
);
const SHOWN = SPECS.filter((spec) => !spec.hidden);

test("docs/cli.md is what the table says: run `bun cli/docs.ts` when this fails", async () => {
  expect(await Bun.file(join(import.meta.dir, "../../docs/cli.md")).text()).toBe(renderDocs());
});

test("fields of --json are the fields of the wire", () => {
  expect<string[]>([...CR_FIELDS].toSorted()).toEqual(Object.keys(changeRequest.properties).toSorted());
  expect<string[]>([...PROJECT_FIELDS].toSorted()).toEqual(Object.keys(project.properties).toSorted());
  expect<string[]>([...SESSION_FIELDS]).toEqual(Object.keys(session.properties));
  expect<string[]>([...PROMPT_FIELDS]).toEqual(Object.keys(prompt.properties));
  expect<string[]>([...DIFF_FIELDS].toSorted()).toEqual(Object.keys(changeRequestDiff.properties).toSorted());
  expect<string[]>([...BRANCH_FIELDS]).toEqual(Object.keys(branch.properties));
  expect<string[]>([...COMMIT_FIELDS]).toEqual(Object.keys(commit.properties));
  expect<string[]>([...ENTRY_FIELDS]).toEqual(Object.keys(treeEntry.properties));
  expect<string[]>([...CONTENTS_FIELDS]).toEqual(Object.keys(fileContents.properties));
  expect(Object.keys(diff()).every((key) => (DIFF_FIELDS as readonly string[]).includes(key))).toBe(true);
});

test("a flag's name means one kind of value everywhere: lines are cut before their command is known", () => {
  const kinds = new Map<string, string>();
  const takes = (flag: Flag) => (flag.kind === "string" || flag.kind === "integer" ? "a value" : "none");
  for (const flags of [GLOBAL, DATA, ...SPECS.map((spec) => spec.flags)]) {
    for (const [name, flag] of Object.entries<Flag>(flags)) {
      for (const each of [name, ...(flag.aliases ?? [])]) {
        expect({ each, takes: kinds.get(each) ?? takes(flag) }).toEqual({ each, takes: takes(flag) });
        kinds.set(each, takes(flag));
      }
    }
  }
});

test("a letter means one flag of a command", () => {
  for (const { path, flags } of SPECS) {
    const letters = Object.values<Flag>({ ...flags, ...DATA, ...GLOBAL }).flatMap(({ short }) => short ?? []);
    expect({ path, letters: new Set(letters).size }).toEqual({ path, letters: letters.length });
  }
});

test("names are unique within their group, and no two are a typo apart from being run by mistake", () => {
  for (const node of TABLE) {
    if (!isGroup(node)) continue;
    const names = node.commands.flatMap((command) => namesOf(command.spec));
    expect(new Set(names).size).toBe(names.length);
  }
});

test("every command has a summary, two examples that parse, and words for its flags", () => {
  for (const spec of SHOWN) {
    expect(spec.examples.length).toBeGreaterThanOrEqual(2);
    expect(spec.summary).not.toEndWith(".");
    for (const [line] of spec.examples) {
      const own = line.slice(
        line.lastIndexOf("svc ", line.indexOf("svc-api") >= 0 ? undefined : line.indexOf("svc ")),
      );
      const words = wordsOf(
        own
          .replace(/ [|<>].*$/, "")
          .replace(/\)"$/, "")
          .replace(/^eval "\$\(/, ""),
      );
      expect(() => parse(TABLE, words.slice(1), () => true)).not.toThrow();
    }
  }
});

/** Words of an example line: what a shell makes of its quotes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replace(/['"]/g, ""));
}

test("suggestions are near, and never a guess out of the blue", () => {
  expect(editDistance("merge", "mreg")).toBe(2);
  expect(editDistance("ab", "ba")).toBe(1);
  expect(nearest("mrege", ["merge", "close"])).toBe("merge");
  expect(nearest("stat", ["status", "title"])).toBe("status");
  expect(nearest("x", ["ls", "rm"])).toBeUndefined();
  expect(nearest("frobnicate", ["merge", "close"])).toBeUndefined();
});
