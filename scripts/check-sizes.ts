import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./binaries.ts";
import { sourceFiles } from "./sources.ts";

/** Past this a file may well hold a second idea; past the other it does. Tests are lists, and may be long. */
const WARN_LINES = 300;
const FAIL_LINES = 500;

export interface Finding {
  level: "warning" | "error";
  message: string;
}

if (import.meta.main) {
  const findings = checkSizes(process.argv[2] ?? ROOT);
  for (const { level, message } of findings) process.stdout.write(`${level}: ${message}\n`);
  if (findings.some(({ level }) => level === "error")) process.exitCode = 1;
}

export function checkSizes(root: string): Finding[] {
  return sourceFiles(root).flatMap((file): Finding[] => {
    const lines = readFileSync(join(root, file), "utf8").split("\n").length - 1;
    if (lines <= WARN_LINES) return [];
    const level = lines > FAIL_LINES && !file.startsWith("test/") ? "error" : "warning";
    const limit = level === "error" ? FAIL_LINES : WARN_LINES;
    return [
      { level, message: `${file} has ${lines} lines, more than ${limit}: look for the second idea in it` },
    ];
  });
}
