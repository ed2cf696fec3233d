import type { ChangeRequestTurn } from "../contract/change-request-turns.ts";
import type { TurnTool } from "../contract/turn.ts";

type Edit = ChangeRequestTurn["edits"][number];

/** Characters of a line that are compared, and letters or digits that it needs: a lone bracket occurs everywhere. */
const LINE_MAX = 200;
const LETTERS_MIN = 3;

/** The lines that a use of a tool wrote, for each file that it changed. */
export function editsOf({ files, patch, input }: TurnTool): Edit[] {
  const added =
    patch === ""
      ? (input.find(({ name }) => name === "content")?.value ?? "").split("\n")
      : patch.split("\n").flatMap((line) => (/^\+(?!\+\+ )/.test(line) ? line.slice(1) : []));
  const lines = [...new Set(added.flatMap((line) => comparable(line) ?? []))];
  return files.map(({ path }) => ({ path, lines }));
}

/**
 * The turn that wrote a hunk: the one that wrote most of its added lines, the newest of several; null if none is known.
 * @param turns in any order
 * @param added the lines that the hunk adds
 */
export function writerOf(
  turns: readonly ChangeRequestTurn[],
  path: string,
  added: readonly string[],
): ChangeRequestTurn | null {
  const wanted = [...new Set(added.flatMap((line) => comparable(line) ?? []))];
  const isOfFile = (edit: Edit) => edit.path === path || edit.path.endsWith(`/${path}`);
  let best: { turn: ChangeRequestTurn; count: number } | null = null;
  for (const turn of turns) {
    const written = new Set(turn.edits.filter(isOfFile).flatMap(({ lines }) => lines));
    const count = wanted.filter((line) => written.has(line)).length;
    const isBetter = best === null || count > best.count;
    const isNewer = best !== null && count === best.count && turn.number > best.turn.number;
    if (count > 0 && (isBetter || isNewer)) best = { turn, count };
  }
  return best?.turn ?? null;
}

/** A line as it is compared: formatters move lines; null if it says too little. */
function comparable(line: string): string | null {
  const text = line.trim().slice(0, LINE_MAX);
  return (text.match(/[\p{L}\p{N}]/gu) ?? []).length < LETTERS_MIN ? null : text;
}
