import { expect, test } from "bun:test";
import { coAuthorsOf } from "../../src/features/repository/co-authors.ts";

const ADA = { name: "Ada", email: "ada@example.com" };
const BOB = { name: "Bob B.", email: "bob@example.com" };
const ada = "Co-authored-by: Ada <ada@example.com>";
const bob = "co-Authored-By:Bob B.<bob@example.com>  ";

test.each([
  ["of the last paragraph", `Why.\n\n${ada}\n${bob}`, [ADA, BOB]],
  ["alone", ada, [ADA]],
  ["between other trailers", `${ada}\nMerged-by: Cleo <cleo@example.com>\n${bob}`, [ADA, BOB]],
  ["once for each address", `${ada}\nCo-authored-by: Other <ADA@example.com>`, [ADA]],
  ["without a name", "Co-authored-by: <ada@example.com>", [{ ...ADA, name: ADA.email }]],
  ["not of an earlier paragraph", `${ada}\n\nThe end.`, []],
  ["not in a sentence", `It was ${ada}`, []],
  ["not without an address", "Co-authored-by: Ada\nCo-authored-by: Ada <>\nCo-authored-by: Ada < >", []],
  ["not with two addresses", `${ada}<x@example.com>`, []],
  ["not of a message without a body", "", []],
])("co-authors are read: %s", (_, body, expected) => {
  expect(coAuthorsOf(body)).toEqual(expected);
});

test("a long line is read in linear time, and a long list is cut", () => {
  const spaces = " ".repeat(64 * 1024);
  expect(coAuthorsOf(`Co-authored-by:${spaces}x`)).toEqual([]);
  const many = Array.from({ length: 60 }, (_, n) => `Co-authored-by: A <${n}@example.com>`).join("\n");
  expect(coAuthorsOf(many)).toHaveLength(50);
});
