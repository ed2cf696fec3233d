import type { Db } from "../../db/client.ts";
import type { RuntimePart } from "../../src/conversation/runtime-message.ts";
import type { RuntimeTurn } from "../../src/conversation/runtime-turn.ts";
import { storeTurns } from "../../src/features/sessions/conversation/store.ts";
import { Changes } from "../../src/lib/changes.ts";

interface Size {
  turns: number;
  /** Characters of the output of each turn's tool: at most 20,000. */
  output: number;
  /** The uses of tools of each turn. */
  tools: number;
}

/** Turns that are stored in one call. */
const BATCH = 40;
const ANSWER =
  "I look at the file first, and then at **its tests**.\n\n- one thing\n- another thing\n\n```ts\nconst value = 1;\n```\n";

/** The texts of a turn: what a person said, and what the agent answered. */
export const promptOf = (turn: number): string => `Prompt ${turn}: change the sign-in page, please.`;
export const answerOf = (turn: number): string => `${ANSWER}\nAnswer ${turn} is done.`;
/** The output of a tool, which differs for each. */
export const outputOf = (turn: number, tool: number, length: number): string =>
  `${turn}.${tool} ${"the output of a tool, in lines of some words\n".repeat(Math.ceil(length / 44))}`.slice(
    0,
    length,
  );

/** Stores a conversation of many turns, each with a prompt, uses of tools with long outputs, and an answer in Markdown. */
export async function storeLongConversation(
  db: Db,
  sessionId: string,
  { turns, output, tools }: Size,
): Promise<void> {
  for (let first = 1; first <= turns; first += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, turns - first + 1) }, (_, at) => first + at);
    await storeTurns(
      { db, changes: new Changes() },
      { sessionId, generation: 1 },
      { turns: numbers.map(turnOf), parts: numbers.flatMap((n) => partsOf(n, tools, output)), open: null },
      (text) => text,
    );
  }
}

const turnOf = (n: number): RuntimeTurn => ({
  ...{ turnId: `msg_${n}`, state: "done", error: null, retry: null, model: "a/b", tokens: null, cost: null },
  ...{ startedAt: n * 1_000, endedAt: n * 1_000 + 900 },
});

function partsOf(n: number, tools: number, output: number): RuntimePart[] {
  const base = {
    ...{
      turnId: `msg_${n}`,
      parentId: null,
      isComplete: true,
      hasFailed: false,
      mayLack: false,
      at: n * 1_000,
    },
    ...{ tool: null, file: null, plan: null, request: null },
  };
  const use = {
    ...{
      tool: "bash",
      state: "completed" as const,
      title: "npm test",
      error: null,
      files: [],
      subagent: null,
    },
    ...{ input: [{ name: "command", value: "npm test" }], patch: "" },
  };
  return [
    { ...base, partId: `prt_${n}p`, kind: "prompt", text: promptOf(n) },
    ...Array.from({ length: tools }, (_, at): RuntimePart => {
      const tool = { ...use, output: outputOf(n, at, output) };
      return { ...base, partId: `prt_${n}t${at}`, kind: "tool", text: "", tool };
    }),
    { ...base, partId: `prt_${n}a`, kind: "text", text: answerOf(n) },
  ];
}
