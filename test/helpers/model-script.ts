/**
 * What the scripted model is to do, as lines of the newest user message; other lines beside them mean nothing. Without
 * any, the message is said back.
 *
 *     !run <shell>            calls the bash tool
 *     !write <path> <text>    calls the write tool; \n in the text is a new line
 *     !tool <name> <json>     calls any tool
 *     !ask <question> | <answer> | <answer>   calls the question tool
 *     !say <text>             says something; \n is a new line
 *     !slow <ms> <words>      says words with a pause after each
 *     !wait                   says no more until the test lets it (`ScriptedModel.go`)
 *     !hang                   never answers (what came before has been said)
 *     !drop [times]           cuts the connection after some words; again and again unless `times` says how often
 *     !fail <status> [times]  answers with an HTTP error
 *     !refuse [text]          ends as a content filter does
 *     !tokens <count>         reports so many tokens of input
 *
 * Each tool call is one round trip: how many are over is read from the messages that came after that user message.
 */
export interface Script {
  /** Of this round trip. */
  steps: Step[];
  /** The same for each try of one round trip. */
  key: string;
}

export type Step =
  | { do: "say"; text: string }
  | { do: "slow"; ms: number; words: string[] }
  | { do: "tool"; call: ToolCall }
  | { do: "wait" }
  | { do: "hang" }
  | { do: "drop"; times: number }
  | { do: "fail"; status: number; times: number }
  | { do: "refuse"; text: string }
  | { do: "tokens"; count: number };

export interface ToolCall {
  name: string;
  input: unknown;
}

interface Message {
  role?: string;
  content?: string | { type?: string; text?: string }[] | null;
  tool_calls?: unknown[];
}

/** @param messages as a chat completion's request holds them */
export function scriptOf(messages: Message[]): Script {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const text = textOf(messages[at]);
  const over = messages.slice(at + 1).filter(({ tool_calls }) => (tool_calls?.length ?? 0) > 0).length;
  const turns = turnsOf(text.split("\n").flatMap(readLine));
  const isScripted = turns.some((steps) => steps.length > 0);
  return {
    steps: isScripted ? (turns[over] ?? []) : [{ do: "say", text }],
    key: `${messages.length} ${text}`,
  };
}

function textOf(message: Message | undefined): string {
  const { content } = message ?? {};
  if (typeof content === "string") return content;
  return (content ?? []).flatMap(({ text }) => text ?? []).join("\n");
}

/** A tool call ends a round trip. */
function turnsOf(steps: readonly Step[]): Step[][] {
  const turns: Step[][] = [[]];
  for (const step of steps) {
    turns.at(-1)?.push(step);
    if (step.do === "tool") turns.push([]);
  }
  return turns;
}

function readLine(line: string): Step[] {
  const [, word = "", rest = ""] = /^!(\w+)(?: (.*))?$/.exec(line.trim()) ?? [];
  const step = STEPS[word]?.(rest);
  return step ? [step] : [];
}

const STEPS: Readonly<Record<string, (rest: string) => Step>> = {
  run: (command) => tool("bash", { command, description: "Runs a command" }),
  write(rest) {
    const [filePath = "", ...words] = rest.split(" ");
    return tool("write", { filePath, content: lines(words.join(" ")) });
  },
  tool(rest) {
    const [name = "", ...json] = rest.split(" ");
    return tool(name, JSON.parse(json.join(" ")));
  },
  ask(rest) {
    const [question = "", ...labels] = rest.split("|").map((part) => part.trim());
    const options = (labels.length > 0 ? labels : ["Yes", "No"]).map((label) => ({
      label,
      description: label,
    }));
    return tool("question", { questions: [{ question, header: "Question", options }] });
  },
  say: (text) => ({ do: "say", text: lines(text) }),
  slow(rest) {
    const [ms, ...words] = rest.split(" ");
    return { do: "slow", ms: Number(ms), words };
  },
  wait: () => ({ do: "wait" }),
  hang: () => ({ do: "hang" }),
  drop: (rest) => ({ do: "drop", times: timesOf(rest) }),
  fail(rest) {
    const [status, times] = rest.split(" ");
    return { do: "fail", status: Number(status), times: timesOf(times) };
  },
  tokens: (rest) => ({ do: "tokens", count: Number(rest) }),
  refuse: (text) => ({ do: "refuse", text: text || "I cannot help with that." }),
};

function tool(name: string, input: unknown): Step {
  return { do: "tool", call: { name, input } };
}

function timesOf(text: string | undefined): number {
  return text ? Number(text) : Number.POSITIVE_INFINITY;
}

function lines(text: string): string {
  return text.replaceAll("\\n", "\n");
}
