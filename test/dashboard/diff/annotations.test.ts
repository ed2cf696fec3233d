import { expect, test } from "bun:test";
import { placeOf } from "../../../dashboard/pages/change-requests/diff/annotations.ts";
import { describe } from "../../../dashboard/pages/change-requests/diff/files.ts";
import { createPatchParser } from "../../../dashboard/pages/change-requests/diff/patch.ts";

/** The new side has the lines 1 to 3 and 10 to 11. */
const PATCH = `diff --git a/a b/a
--- a/a
+++ b/a
@@ -1,4 +1,3 @@
 one
-two
-three
+2
 four
@@ -11,1 +10,2 @@
 ten
+eleven
`;
const parser = createPatchParser();
parser.take(PATCH);
const [file] = parser.end().map(describe);

const ROWS: [start: number, end: number, line: number | null][] = [
  [1, 1, 1],
  [3, 3, 3],
  [2, 3, 3],
  [4, 4, null],
  [4, 9, null],
  [9, 10, 10],
  [11, 11, 11],
  [11, 40, 11],
  [12, 12, null],
  // ends between the hunks: below the last line before
  [2, 8, 3],
  [1, 100, 11],
  [0, 0, null],
  [0, 1, 1],
];

test.each(ROWS)("an annotation of lines %d to %d is below line %p", (start_line, end_line, line) => {
  const columns = { start_column: null, end_column: null, title: null, raw_details: null };
  const annotation = { path: "a", start_line, end_line, annotation_level: "notice", message: "m" } as const;
  expect(placeOf(file, { ...annotation, ...columns })?.line ?? null).toBe(line);
  expect(placeOf(undefined, { ...annotation, ...columns })).toBeNull();
});
