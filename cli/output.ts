import type { DataFlags } from "./arguments.ts";
import { CliError, usage } from "./failure.ts";
import type { Sink, System } from "./system.ts";
import { lines, oneLine, safeJson } from "./text.ts";

/** What a command knows about the stream when it lays out its answer for a person. */
export interface View {
  /** Laid out for eyes; otherwise whole values, separated by tabs. */
  tty: boolean;
  columns: number;
  now: number;
  paint: Paint;
}

export type Paint = Record<"bold" | "dim" | "red" | "green" | "yellow" | "cyan", (text: string) => string>;

export interface Output {
  readonly data: DataFlags;
  readonly system: System;
  readonly quiet: boolean;
  colour(sink: Sink): boolean;
  /** The answer: JSON when asked for, else `human`. Human text ends with a line feed and is already terminal-safe. */
  result(value: unknown, human: (view: View) => string): Promise<void>;
  /** One of many answers, for --json alone: a line of its own, as it comes. */
  event(value: unknown): Promise<void>;
  /** A notice or next step, on stderr; left out with --quiet and --json. */
  note(text: string): Promise<void>;
  /** Something a person must learn, on stderr; left out with --json, whose stderr is for errors. */
  warn(text: string): Promise<void>;
}

export interface Wish {
  color: string | undefined;
  noColor: boolean;
  quiet: boolean;
}

export function makeOutput(system: System, data: DataFlags, wish: Wish): Output {
  const colour = (sink: Sink) => wantsColour(sink, system.env, wish);
  return {
    data,
    system,
    quiet: wish.quiet,
    colour,
    async result(value, human) {
      const { stdout } = system;
      if (data.json) return stdout.write(await renderJson(value, data, stdout));
      await stdout.write(human(viewOf(stdout, system, colour)));
    },
    async event(value) {
      await system.stdout.write(await renderJson(value, data, { isTTY: false }));
    },
    async note(text) {
      if (!wish.quiet && !data.json) await system.stderr.write(`${lines(text)}\n`);
    },
    async warn(text) {
      if (!data.json) await system.stderr.write(`${lines(`warning: ${text}`)}\n`);
    },
  };
}

/** Nothing is asked of the stream that the command does not look at: `svc version` is over before. */
function viewOf(stdout: Sink, system: System, colour: (sink: Sink) => boolean): View {
  return {
    get tty() {
      return stdout.isTTY;
    },
    get columns() {
      return stdout.isTTY ? stdout.columns : 80;
    },
    get paint() {
      return painter(colour(stdout));
    },
    now: system.now(),
  };
}

/** A flag, then NO_COLOR, then the variables that force colour, then what the terminal can. */
export function wantsColour(sink: Sink, env: System["env"], wish: Wish): boolean {
  if (wish.noColor || wish.color === "never") return false;
  if (wish.color === "always" || wish.color === "") return true;
  if (env["NO_COLOR"]) return false;
  for (const name of ["FORCE_COLOR", "CLICOLOR_FORCE"]) {
    if (env[name] && env[name] !== "0") return true;
  }
  if (env["TERM"] === "dumb" || env["CLICOLOR"] === "0") return false;
  return sink.isTTY;
}

export function painter(on: boolean): Paint {
  const paint = (code: number) => (text: string) =>
    on && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text;
  return {
    bold: paint(1),
    dim: paint(2),
    red: paint(31),
    green: paint(32),
    yellow: paint(33),
    cyan: paint(36),
  };
}

async function renderJson(
  value: unknown,
  { fields, jq }: DataFlags,
  stdout: Pick<Sink, "isTTY">,
): Promise<string> {
  const chosen = fields === null ? value : select(value, fields);
  if (jq !== undefined) return runJq(JSON.stringify(chosen), jq, stdout.isTTY);
  return `${safeJson(JSON.stringify(chosen, null, stdout.isTTY ? 2 : 0))}\n`;
}

/** Chosen fields in the order they were asked for; one that an answer lacks is null. */
function select(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => select(each, fields));
  const from = Object(value);
  return Object.fromEntries(fields.map((field) => [field, Reflect.get(from, field) ?? null]));
}

/** @throws CliError `jq` when the expression fails on this answer. */
export async function runJq(json: string, expression: string, tty: boolean): Promise<string> {
  try {
    const text = await jq(json, expression, tty ? ["-r"] : ["-r", "-c"]);
    const ended = text === "" || text.endsWith("\n") ? text : `${text}\n`;
    return tty ? lines(ended) : ended;
  } catch (error) {
    throw new CliError("jq", `jq: ${jqMessage(error)}`);
  }
}

/**
 * Compiles a jq expression before the command does anything: a typo must not be found out after a merge.
 * @throws CliError `usage`.
 */
export async function checkJq(expression: string): Promise<void> {
  try {
    await jq("null", `empty | (${expression}\n)`, []);
  } catch (error) {
    throw usage(`--jq: ${jqMessage(error)}`);
  }
}

/** jq leaves its own exit status behind as the process's, which is the command's to set. */
async function jq(json: string, expression: string, flags: string[]): Promise<string> {
  const { raw } = await import("jq-wasm");
  const status = process.exitCode ?? 0;
  try {
    return await raw(json, expression, flags);
  } finally {
    process.exitCode = status;
  }
}

function jqMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [first = ""] = text.replace(/^Failed to execute raw query: /, "").split("\n");
  return oneLine(first.replace(/^jq: (error: )?/, "")).slice(0, 300);
}
