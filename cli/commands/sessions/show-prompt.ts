import type { Prompt } from "../../../src/contract/prompt.ts";
import type { Paint, View } from "../../output.ts";
import { ago, type Column, table } from "../../table-print.ts";
import { oneLine } from "../../text.ts";

/** A list of prompts, as a table for a terminal or as rows for a script. */
export const listOfPrompts = (prompts: readonly Prompt[], view: View): string =>
  prompts.length === 0 ? "" : table(prompts, view.tty ? FOR_PEOPLE : FOR_SCRIPTS, view);

/** One line on a prompt; scripts get its full id. */
export function promptLine(prompt: Prompt, { tty, paint }: View): string {
  const name = tty ? `Prompt ${prompt.number}` : oneLine(prompt.prompt_id);
  return `${statePaint(paint, prompt.state)(name)}: ${oneLine(prompt.state)}\n`;
}

/** Characters shown of a prompt. */
const WORDS_MAX = 200;

const NUMBER: Column<Prompt> = {
  title: "NO",
  value: ({ number }) => String(number),
  paint: (_, view) => view.paint.cyan,
};
const STATE: Column<Prompt> = {
  title: "STATE",
  value: ({ state }) => state,
  paint: ({ state }, view) => statePaint(view.paint, state),
};
const TEXT: Column<Prompt> = {
  title: "PROMPT",
  value: ({ text }) => text,
  shown: ({ text }) => text.trim().replace(/\s+/g, " ").slice(0, WORDS_MAX),
  flexible: true,
};
const ERROR: Column<Prompt> = { title: "ERROR", value: ({ error }) => error ?? "", flexible: true };
const CREATED: Column<Prompt> = {
  title: "CREATED",
  value: ({ created_at }) => created_at,
  shown: ({ created_at }, view) => ago(created_at, view.now),
  paint: (_, view) => view.paint.dim,
};

const FOR_PEOPLE: readonly Column<Prompt>[] = [NUMBER, STATE, TEXT, ERROR, CREATED];
const FOR_SCRIPTS: readonly Column<Prompt>[] = [
  { title: "ID", value: ({ prompt_id }) => prompt_id },
  NUMBER,
  STATE,
  ERROR,
  CREATED,
  TEXT,
];

function statePaint(paint: Paint, state: string): (text: string) => string {
  if (state === "answered") return paint.green;
  if (state === "queued" || state === "running") return paint.yellow;
  return paint.red;
}
