import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./binaries.ts";
import { sourceFiles } from "./sources.ts";

/** Maximum number of lines of a source file. Tests, which are lists of cases, may be longer. */
export const FILE_LINES_MAX = 500;

if (import.meta.main) {
  const problems = checkSizes(process.argv[2] ?? ROOT);
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}

/** @returns one line for each file that is too long */
export function checkSizes(root: string): string[] {
  return sourceFiles(root)
    .filter((file) => !file.startsWith("test/"))
    .flatMap((file) => {
      const lines = readFileSync(join(root, file), "utf8").split("\n").length - 1;
      return lines > FILE_LINES_MAX ? [`${file} has ${lines} lines; the limit is ${FILE_LINES_MAX}`] : [];
    });
}
