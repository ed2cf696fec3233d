import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { ROOT } from "./binaries.ts";
import { sourceFiles } from "./sources.ts";

/** Maximum number of lines of a source file. Tests, which are lists of cases, may be longer. */
export const FILE_LINES_MAX = 300;
/** Maximum number of lines of a function, except in tests. */
export const FUNCTION_LINES_MAX = 80;

if (import.meta.main) {
  const problems = checkSizes(process.argv[2] ?? ROOT);
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}

/** @returns one line for each file and each function that is too long */
export function checkSizes(root: string): string[] {
  return sourceFiles(root)
    .filter((file) => !file.startsWith("test/"))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      const lines = text.split("\n").length - 1;
      const long =
        lines > FILE_LINES_MAX ? [`${file} has ${lines} lines; the limit is ${FILE_LINES_MAX}`] : [];
      return [...long, ...longFunctions(file, text)];
    });
}

function longFunctions(file: string, text: string): string[] {
  const problems: string[] = [];
  const lineAt = (offset: number) => text.slice(0, offset).split("\n").length;
  const check = ({ start, end }: { start: number; end: number }) => {
    const lines = lineAt(end) - lineAt(start) + 1;
    if (lines <= FUNCTION_LINES_MAX) return;
    const at = `${file}:${lineAt(start)}`;
    problems.push(`${at} has a function of ${lines} lines; the limit is ${FUNCTION_LINES_MAX}`);
  };
  const visitor = new Visitor({
    FunctionDeclaration: check,
    FunctionExpression: check,
    ArrowFunctionExpression: check,
  });
  visitor.visit(parseSync(file, text).program);
  return problems;
}
