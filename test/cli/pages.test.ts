import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "../../cli/arguments.ts";
import { TABLE } from "../../cli/table.ts";

const root = join(import.meta.dir, "../..");
const pages = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md"),
);

/** The words after `svc` of each command that a page shows for copying. Placeholders such as `<id>` are one word. */
function commandLines(page: string): string[][] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^ *\$ (?:\w+=\S+ )*svc (.*)$/gm)].map(([, line = ""]) =>
    [
      ...line
        .replace(/<[\w -]+>/g, "x")
        .replace(/\s(?:#|[|<>&;]).*$/, "")
        .matchAll(/"([^"]*)"|'([^']*)'|\S+/g),
    ].map(([word, double, single]) => double ?? single ?? word),
  );
}

test("every command that a page shows for copying is one that svc accepts", () => {
  const refused = pages.flatMap((page) =>
    commandLines(page).flatMap((words) => {
      try {
        parse(TABLE, words, () => true);
        return [];
      } catch (error) {
        return [`${page}: svc ${words.join(" ")}: ${error instanceof Error ? error.message : error}`];
      }
    }),
  );
  expect(refused).toEqual([]);
  expect(pages.flatMap(commandLines).length).toBeGreaterThan(100);
});
