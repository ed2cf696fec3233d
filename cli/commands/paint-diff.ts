import type { Paint } from "../output.ts";
import { lines } from "../text.ts";
import { wholeLines } from "../whole-lines.ts";

/** Colours a patch line by line, and escapes control characters. */
export async function* paintDiff(chunks: AsyncIterable<Uint8Array>, paint: Paint): AsyncGenerator<string> {
  const state: State = { inHunk: false };
  for await (const text of wholeLines(chunks)) yield paintLines(text, paint, state);
}

interface State {
  /** Inside a hunk a line that begins with `---` is a removed line. */
  inHunk: boolean;
}

function paintLines(text: string, paint: Paint, state: State): string {
  return text
    .split("\n")
    .map((line, at, all) => (at === all.length - 1 && line === "" ? "" : paintLine(line, paint, state)))
    .join("\n");
}

function paintLine(raw: string, paint: Paint, state: State): string {
  // A carriage return is part of the line in a patch, and is shown escaped.
  const line = lines(raw);
  if (raw.startsWith("diff --git ")) {
    state.inHunk = false;
    return paint.bold(line);
  }
  if (raw.startsWith("@@")) {
    state.inHunk = true;
    return paint.cyan(line);
  }
  if (!state.inHunk) return paint.bold(line);
  if (raw.startsWith("+")) return paint.green(line);
  if (raw.startsWith("-")) return paint.red(line);
  return line;
}
