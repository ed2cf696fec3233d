import { expect, test } from "bun:test";
import { readVersion } from "../../src/git/run/version.ts";

test.each([
  ["git version 2.38.0\n", "2.38.0", false, 1],
  ["git version 2.39.5 (Apple Git-154)\n", "2.39.5", false, 1],
  ["git version 2.43.0.windows.1\n", "2.43.0.windows.1", true, 1],
  ["git version 2.53.0\n", "2.53.0", true, 0],
  ["git version 2.55.GIT\n", "2.55.GIT", true, 0],
  ["git version 3.0.0\n", "3.0.0", true, 0],
])("%j", (answer, text, attrSource, hints) => {
  const said: string[] = [];
  expect(readVersion(answer, { info: (message) => said.push(message) })).toEqual({ text, attrSource });
  expect(said.length).toBe(hints);
});

test.each([
  ["git version 2.37.9", "2.37.9"],
  ["git version 1.8.3.1", "1.8.3.1"],
  ["", "none was found"],
])("rejects %j with one line", (answer, words) => {
  const log = { info() {} };
  expect(() => readVersion(answer, log)).toThrow(words);
  expect(() => readVersion(answer, log)).toThrow(/^[^\n]+$/);
});
