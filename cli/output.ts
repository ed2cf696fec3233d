import type { DataFlags } from "./arguments.ts";
import { CliError, usage } from "./failure.ts";
import type { Sink, System } from "./system.ts";
import { lines, oneLine, safeJson } from "./text.ts";

/** The output stream's properties, for rendering human-readable output. */
export interface View {
  /** Whether to print aligned, abbreviated text; otherwise full values, separated by tabs. */
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
  /** Prints the result: JSON if requested, else `human`, whose text is sanitized and ends with a line feed. */
  result(value: unknown, human: (view: View) => string): Promise<void>;
  /** Prints one event of a stream as a line of JSON. */
  event(value: unknown): Promise<void>;
  /** Prints a notice or next step on stderr, except with --quiet and --json. */
  note(text: string): Promise<void>;
  /** Prints a warning on stderr, except with --json, whose stderr is for errors. */
  warn(text: string): Promise<void>;
}

export interface OutputOptions {
  color: string | undefined;
  noColor: boolean;
  quiet: boolean;
}

export function makeOutput(system: System, data: DataFlags, options: OutputOptions): Output {
  const colour = (sink: Sink) => usesColour(sink, system.env, options);
  return {
    data,
    system,
    quiet: options.quiet,
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
      if (!options.quiet && !data.json) await system.stderr.write(`${lines(text)}\n`);
    },
    async warn(text) {
      if (!data.json) await system.stderr.write(`${lines(`warning: ${text}`)}\n`);
    },
  };
}

/** The stream's properties are read lazily, to keep start-up fast. */
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

/** In order: flags, NO_COLOR, the variables that force colour, the terminal's capability. */
export function usesColour(sink: Sink, env: System["env"], options: OutputOptions): boolean {
  if (options.noColor || options.color === "never") return false;
  if (options.color === "always" || options.color === "") return true;
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

/** The selected fields in the requested order; a missing one is null. */
function select(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => select(each, fields));
  const from = Object(value);
  return Object.fromEntries(fields.map((field) => [field, Reflect.get(from, field) ?? null]));
}

/** @throws CliError `jq` if the expression fails on this value. */
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
 * Compiles a jq expression before the command runs, so that a typo does not surface after a merge.
 * @throws CliError `usage`.
 */
export async function checkJq(expression: string): Promise<void> {
  try {
    await jq("null", `empty | (${expression}\n)`, []);
  } catch (error) {
    throw usage(`--jq: ${jqMessage(error)}`);
  }
}

/** jq-wasm overwrites the process's exit code: restore it. */
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
