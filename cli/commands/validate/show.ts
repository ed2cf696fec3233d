import type { ManifestError } from "../../../src/contract/manifest/manifest.ts";
import type { Paint } from "../../output.ts";
import { oneLine } from "../../text.ts";

/** Columns shown of a source line, and how many of them are before the problem. */
const SHOWN_MAX = 100;
const BEFORE_MAX = 60;

/** `svc.toml:3:7: message`, which editors and terminals turn into a link. */
export function describeProblem(path: string, { line, column, message }: ManifestError): string {
  return `${path}:${line}:${column}: ${message}`;
}

/** The same with its severity, followed by the source line with a caret below the position. */
export function showProblem(path: string, text: string, error: ManifestError, paint: Paint): string {
  const { line, column, message, severity } = error;
  const colour = severity === "error" ? paint.red : paint.yellow;
  const [source, mark] = sourceOf(text, line, column);
  const gutter = String(line);
  return [
    `${paint.bold(`${oneLine(path)}:${line}:${column}:`)} ${colour(`${severity}:`)} ${oneLine(message)}`,
    `${paint.dim(`${gutter} |`)} ${source}`,
    `${paint.dim(`${" ".repeat(gutter.length)} |`)} ${mark}${colour("^")}`,
    "",
  ].join("\n");
}

/** The sanitized line, and the spaces before its caret. */
function sourceOf(text: string, line: number, column: number): [source: string, mark: string] {
  const source = (text.split("\n", line)[line - 1] ?? "").replace(/^\ufeff|\r$/g, "");
  const from = Math.max(0, column - 1 - BEFORE_MAX);
  const shown = (part: string) => oneLine(part.replaceAll("\t", "  "));
  const before = shown(source.slice(from, column - 1));
  return [before + shown(source.slice(column - 1, from + SHOWN_MAX)), " ".repeat(Bun.stringWidth(before))];
}
