import { expect, test } from "bun:test";
import { suggestionOf } from "../../src/contract/suggestion.ts";

const CASES: [what: string, body: string, lines: string[] | null][] = [
  ["one line", "```suggestion\na\n```", ["a"]],
  ["between words", "Better:\n\n```suggestion\na\nb\n```\nYes?", ["a", "b"]],
  ["no lines", "```suggestion\n```", []],
  ["an empty line", "```suggestion\n\n```", [""]],
  ["lines that end as in a browser", "```suggestion\r\na\r\nb\r\n```\r\n", ["a", "b"]],
  ["white space stays", "```suggestion\n\ta  \n```", ["\ta  "]],
  ["a longer fence", "````suggestion\n```\na\n```\n````", ["```", "a", "```"]],
  ["a closing fence that is longer", "```suggestion\na\n`````", ["a"]],
  ["an indented block", "  ```suggestion\na\n   ```", ["a"]],
  ["space around the language", "``` suggestion \na\n``` ", ["a"]],
  ["no block", "a", null],
  ["another language", "```ts\na\n```", null],
  ["a fence after words", "a ```suggestion\na\n```", null],
  ["words before a closing fence", "```suggestion\na ```\n```", ["a ```"]],
  ["words after a closing fence", "```suggestion\n``` a\n```", ["``` a"]],
  ["more than the language", "```suggestion x\na\n```", null],
  ["no end", "```suggestion\na\n", null],
  ["a fence that is too short", "````suggestion\na\n```", null],
  ["two blocks", "```suggestion\na\n```\n```suggestion\nb\n```", null],
  ["code that is indented", "    ```suggestion\na\n    ```", null],
];

test.each(CASES)("the suggestion of a comment: %s", (_, body, lines) => {
  expect(suggestionOf(body)).toEqual(lines);
});
