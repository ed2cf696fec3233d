import { expect, test } from "bun:test";
import { join } from "node:path";
import { parse } from "../../cli/arguments.ts";
import { renderDocs } from "../../cli/docs.ts";
import { DATA, GLOBAL } from "../../cli/flags.ts";
import { type Flag, isGroup, namesOf } from "../../cli/spec.ts";
import { TABLE } from "../../cli/table.ts";
import { editDistance, nearest } from "../../src/contract/nearest.ts";

const SPECS = TABLE.flatMap((node) => (isGroup(node) ? node.commands : [node])).map(
  (command) => command.spec,
);
const SHOWN = SPECS.filter((spec) => !spec.hidden);

test("docs/cli.md matches the table: run `bun cli/docs.ts` if this fails", async () => {
  expect(await Bun.file(join(import.meta.dir, "../../docs/cli.md")).text()).toBe(renderDocs());
});

test("a flag's name has the same kind of value everywhere: lines are split before their command is known", () => {
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

test("each letter is one flag of a command", () => {
  for (const { path, flags } of SPECS) {
    const letters = Object.values<Flag>({ ...flags, ...DATA, ...GLOBAL }).flatMap(({ short }) => short ?? []);
    expect({ path, letters: new Set(letters).size }).toEqual({ path, letters: letters.length });
  }
});

test("names are unique within their group, and no typo runs another command", () => {
  for (const node of TABLE) {
    if (!isGroup(node)) continue;
    const names = node.commands.flatMap((command) => namesOf(command.spec));
    expect(new Set(names).size).toBe(names.length);
  }
});

test("every command has a summary, two valid examples, and a description of each flag", () => {
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

test("suggests only similar names", () => {
  expect(editDistance("merge", "mreg")).toBe(2);
  expect(editDistance("ab", "ba")).toBe(1);
  expect(nearest("mrege", ["merge", "close"])).toBe("merge");
  expect(nearest("stat", ["status", "title"])).toBe("status");
  expect(nearest("x", ["ls", "rm"])).toBeUndefined();
  expect(nearest("frobnicate", ["merge", "close"])).toBeUndefined();
});
