import { parseArgs } from "node:util";
import { nearest } from "../src/contract/nearest.ts";
import { usage } from "./failure.ts";
import { FLAG_HINTS } from "./hints.ts";
import { type Command, type Flag, type Flags, type Group, isGroup, type Values } from "./spec.ts";

/** Flags of every command. */
export const GLOBAL = {
  host: {
    kind: "string",
    value: "name",
    summary: "Use this host instead of the active one",
    completes: "host",
  },
  project: {
    kind: "string",
    value: "id-or-slug",
    summary: "Use this project instead of the linked one",
    completes: "project",
  },
  help: { kind: "boolean", short: "h", summary: "Show help with examples" },
  color: {
    kind: "optional",
    value: "when",
    choices: ["always", "auto", "never"],
    summary: "When to use colour: always (the default for a bare --color), auto or never",
  },
  "no-color": { kind: "boolean", summary: "Same as --color=never" },
  "no-input": { kind: "boolean", summary: "Never prompt; fail if an answer is required" },
  quiet: { kind: "boolean", short: "q", summary: "Do not print notices and next steps on stderr" },
  timeout: {
    kind: "integer",
    value: "seconds",
    min: 1,
    max: 3600,
    summary: "How long to wait for the server (30; 120 for requests that run git)",
  },
} as const satisfies Flags;

/** Flags of every command that prints data. */
export const DATA = {
  json: {
    kind: "optional",
    value: "fields",
    summary: "Print JSON: all fields, or those of a comma-separated list",
  },
  jq: {
    kind: "string",
    value: "expression",
    summary: "Filter the JSON with a jq expression (implies --json)",
  },
} as const satisfies Flags;

/** Flags of `svc` without a command. */
const ROOT = {
  version: { kind: "boolean", short: "V", summary: "Print the version" },
} as const satisfies Flags;

export interface Option {
  name: string;
  raw: string;
  value: string | undefined;
  inline: boolean;
}

export interface Word {
  value: string;
  /** After `--`: not a command name. */
  literal: boolean;
  /** The option without a value that is directly before the word, without a `--` between them. */
  after?: Option;
}

/**
 * Splits a command line into flags and words. A long flag has the same kind in every command, so this works before the
 * command is known. A short flag of two kinds is read as one with a value.
 */
export function tokenize(
  table: readonly (Group | Command)[],
  argv: readonly string[],
): { options: Option[]; words: Word[] } {
  const config = new Map<string, { type: "string" | "boolean"; short?: string }>();
  const declare = (flags: Flags) => {
    for (const [name, flag] of Object.entries(flags)) {
      const type = flag.kind === "string" || flag.kind === "integer" ? "string" : "boolean";
      config.set(name, flag.short === undefined ? { type } : { type, short: flag.short });
      for (const alias of flag.aliases ?? []) config.set(alias, { type });
    }
  };
  declare({ ...ROOT, ...DATA, ...GLOBAL });
  for (const node of table) {
    for (const command of isGroup(node) ? node.commands : [node]) declare(command.spec.flags);
  }
  const { tokens } = parseArgs({
    args: [...argv],
    // Of several with one letter, the first counts.
    options: Object.fromEntries([...config].toSorted(([, a], [, b]) => b.type.localeCompare(a.type))),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const options: Option[] = [];
  const words: Word[] = [];
  let literal = false;
  let after: Option | undefined;
  for (const token of tokens) {
    const before = after;
    after = undefined;
    if (token.kind === "option-terminator") literal = true;
    else if (token.kind === "positional") {
      words.push({ value: token.value, literal, ...(before && { after: before }) });
    } else {
      const option = {
        name: token.name,
        raw: token.rawName,
        value: token.value,
        inline: token.inlineValue === true,
      };
      options.push(option);
      if (option.value === undefined) after = option;
    }
  }
  return { options, words };
}

/** The values of a command's flags, and the name by which each was given. @throws CliError `usage`. */
export function readFlags(options: readonly Option[], flags: Flags, command: string) {
  const values: Values = {};
  const given = new Map<string, string>();
  for (const [name, flag] of Object.entries(flags)) {
    if (flag.kind === "boolean") values[name] = false;
    else if (flag.kind === "string" && flag.many) values[name] = [];
    else if (flag.kind === "string") values[name] = flag.fallback;
  }
  for (const option of options) {
    const found = entryOf(option, flags);
    if (found === undefined) throw unknownFlag(option, flags, command);
    const [name, flag] = found;
    const many = flag.kind === "string" && flag.many === true;
    const earlier = given.get(name);
    if (earlier !== undefined && !many) {
      throw usage(
        earlier === option.raw
          ? `${option.raw} is given twice.`
          : `${earlier} and ${option.raw} are the same flag: give one of them.`,
      );
    }
    given.set(name, option.raw);
    const value = readValue(option, flag, flags, command);
    if (many) (values[name] as unknown[]).push(value);
    else values[name] = value;
  }
  return { values, given };
}

function entryOf({ name }: Option, flags: Flags): [name: string, flag: Flag] | undefined {
  const entries = Object.entries(flags);
  return entries.find(([own]) => own === name) ?? entries.find(([, flag]) => flag.aliases?.includes(name));
}

function unknownFlag(option: Option, flags: Flags, command: string) {
  const names = Object.entries(flags).flatMap(([name, flag]) => [name, ...(flag.aliases ?? [])]);
  const guessed = Object.entries(flags).find(([, flag]) => flag.guesses?.includes(option.name));
  const known = FLAG_HINTS[`${command} ${option.raw}`] ?? FLAG_HINTS[option.raw];
  const [, other] = /^--([a-z-]+)/.exec(known ?? "") ?? [];
  if (known !== undefined && other === undefined) return usage(`Unknown flag: ${option.raw}`, known);
  const isThere = other !== undefined && Object.hasOwn(flags, other);
  const guess = guessed?.[0] ?? (option.name.length > 1 ? nearest(option.name, names) : undefined);
  const meant = isThere ? known : guess === undefined ? undefined : `--${guess}`;
  return usage(
    `Unknown flag: ${option.raw}`,
    meant === undefined ? `Run \`${command} --help\` for the list.` : `Did you mean \`${meant}\`?`,
  );
}

function readValue(option: Option, flag: Flag, flags: Flags, command: string): unknown {
  const { raw, value, inline } = option;
  if (flag.kind === "boolean") {
    if (value !== undefined) throw usage(`${raw} does not take a value.`);
    return true;
  }
  if (flag.kind === "optional") {
    if (value === "") throw usage(`${raw}= needs a value, or write ${raw} alone.`);
    if (value !== undefined && flag.choices) choose(raw, value, flag.choices);
    return value ?? "";
  }
  if (value === undefined || (!inline && isFlagOf(value, flags))) {
    const hint =
      value === undefined
        ? `${command} ${raw} <${flag.value}>`
        : `If ${value} is the value, write ${raw}=${value}`;
    throw usage(`${raw} needs a value.`, hint);
  }
  if (flag.kind === "integer") {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= flag.min && number <= flag.max)) {
      throw usage(`${raw} must be a whole number from ${flag.min} to ${flag.max}.`);
    }
    return number;
  }
  if (value === "" && !flag.empty) throw usage(`${raw} needs a value.`);
  if (flag.choices) choose(raw, value, flag.choices);
  return value;
}

/** Whether the word after a flag looks like the next flag rather than its value. */
function isFlagOf(word: string, flags: Flags): boolean {
  if (/^--[a-z][a-z-]*(=|$)/.test(word)) return true;
  const [, letter] = /^-(.)$/.exec(word) ?? [];
  return letter !== undefined && Object.values(flags).some((flag) => flag.short === letter);
}

/** @throws CliError `usage`, with the nearest of the choices. */
export function choose(what: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return;
  const guess = nearest(value, choices);
  throw usage(
    `${what} must be one of ${choices.join(", ")}; not ${value}`,
    guess === undefined ? undefined : `Did you mean \`${guess}\`?`,
  );
}
