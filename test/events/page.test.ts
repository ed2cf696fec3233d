import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { EVENT_TYPES } from "../../src/contract/event.ts";

test("docs/events.md has a row for each type of event, and for no other", () => {
  const page = readFileSync("docs/events.md", "utf8");
  const [head, ...rows] = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, type = ""]) => type);
  expect(head).toBe("type");
  expect(rows.toSorted()).toEqual([...EVENT_TYPES].toSorted());
});
