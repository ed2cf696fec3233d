import { expect, test } from "bun:test";
import { mutantsOf } from "../../scripts/mutate/mutants.ts";

test.each<[string, string[]]>([
  ["if (a < b) c();", ["if (a <= b) c();"]],
  ["if (a) c();", ["if (!a) c();"]],
  ["if (!a) c();", ["if (a) c();"]],
  ["while (await a()) c();", ["while (!await a()) c();"]],
  ["x = a && b ? c : d;", ["x = a || b ? c : d;"]],
  ["x = a ?? b;", ["x = a && b;"]],
  ["x = `a` + b;", []],
  ["x = a + b;", ["x = a - b;"]],
  ["x -= 2;", ["x += 2;", "x -= 3;"]],
  ["x = -1;", []],
  ["x = 1_000;", []],
  ["x++;", ["x--;"]],
  ["f(true);", ["f(false);"]],
  ["a.some(f);", ["a.every(f);"]],
  ["lte(a, b);", ["lt(a, b);"]],
  ["x = '…'.normalize('NFKC');", ["x = '…'.normalize(\"NFC\");"]],
  [
    "x = /^[a-f]+$/i;",
    [
      "x = /[a-f]+$/i;",
      "x = /^[^a-f]+$/i;",
      "x = /^[a-e]+$/i;",
      "x = /^[a-f]*$/i;",
      "x = /^[a-f]+/i;",
      "x = /^[a-f]+$/;",
    ],
  ],
  ["x = /[^\\]a]\\^/;", ["x = /[\\]a]\\^/;"]],
  ["type A = 1 | 2; let x: A;", []],
])("changes one token at a time: %s", (source, expected) => {
  expect(mutantsOf("x.ts", source).map(({ after }) => after)).toEqual(expected);
});

test("a mutant has its line, and leaves the rest of the file unchanged", () => {
  const [mutant] = mutantsOf("x.ts", "// über\n\n  if (a === b) c();\nd();\n");
  expect(mutant).toEqual({
    line: 3,
    before: "if (a === b) c();",
    after: "if (a !== b) c();",
    text: "// über\n\n  if (a !== b) c();\nd();\n",
  });
});

test.each([
  ['import { lt } from "m";\nlt(a, b);\n', 'import { lt } from "m";\nlte(a, b);\nimport { lte } from "m";\n'],
  ['import { lt, lte } from "m";\nlt(a, b);\n', 'import { lt, lte } from "m";\nlte(a, b);\n'],
])("imports a function that a mutant uses: %j", (source, expected) => {
  expect(mutantsOf("x.ts", source).map(({ text }) => text)).toEqual([expected]);
});
