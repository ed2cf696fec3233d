import { parseArgs } from "node:util";
import { usage } from "./failure.ts";
import {
  type Arg,
  type Command,
  type Flag,
  type Flags,
  type FlagsOf,
  type Group,
  isGroup,
  lastWord,
  nameOf,
  namesOf,
  type Spec,
  type Values,
} from "./spec.ts";
import { nearest } from "./suggest.ts";

/** Flags of every command. */
export const GLOBAL = {
  host: {
    kind: "string",
    value: "name",
    summary: "Ask this host instead of the active one",
    completes: "host",
  },
  project: {
    kind: "string",
    value: "id-or-slug",
    summary: "Act on this project instead of the linked one",
    completes: "project",
  },
  help: { kind: "boolean", short: "h", summary: "Show help with examples" },
  color: {
    kind: "optional",
    value: "when",
    choices: ["always", "auto", "never"],
    summary: "Colour: always (the meaning of --color alone), auto or never",
  },
  "no-color": { kind: "boolean", summary: "The same as --color=never" },
  "no-input": { kind: "boolean", summary: "Never ask; fail when an answer is missing" },
  quiet: { kind: "boolean", short: "q", summary: "Leave out notices and next steps on stderr" },
  timeout: {
    kind: "integer",
    value: "seconds",
    min: 1,
    max: 3600,
    summary: "How long to wait for the server (30; 120 where git works behind it)",
  },
} as const satisfies Flags;

/** Flags of every command that prints data. */
export const DATA = {
  json: {
    kind: "optional",
    value: "fields",
    summary: "Print JSON: everything, or the fields after `=`, separated by commas",
  },
  jq: {
    kind: "string",
    value: "expression",
    summary: "Filter the JSON with a jq expression (implies --json)",
  },
} as const satisfies Flags;

/** Asked of `svc` itself, without a command. */
const ROOT = {
  version: { kind: "boolean", short: "V", summary: "Print the version" },
} as const satisfies Flags;

export interface DataFlags {
  json: boolean;
  /** Null: all of them. */
  fields: string[] | null;
  jq: string | undefined;
}

export type Parsed =
  | { kind: "help"; of: Group | Command | null }
  | { kind: "bare"; of: Group }
  | { kind: "version" }
  | {
      kind: "run";
      command: Command;
      args: Values;
      flags: Values;
      globals: FlagsOf<typeof GLOBAL>;
      data: DataFlags;
    };

type Table = readonly (Group | Command)[];

/**
 * Reads a command line against the table: flags stand anywhere, `--flag value` and `--flag=value`, `--` ends them.
 * @throws CliError `usage` for whatever the table does not allow, with the nearest name that it does.
 */
export function parse(table: Table, argv: readonly string[], canAsk: () => boolean): Parsed {
  const { options, words } = tokenize(table, argv);
  const wantsHelp = options.some((option) => option.name === "help" || option.name === "h");
  const path = words.filter((word) => !word.literal).map((word) => word.value);
  const found = find(table, path, words.length > path.length);
  if (found === null || isGroup(found)) {
    if (wantsHelp) return { kind: "help", of: found };
    if (found === null && options.some((option) => option.name === "version" || option.name === "V")) {
      return { kind: "version" };
    }
    readFlags(options, GLOBAL, "svc");
    return found === null ? { kind: "help", of: null } : { kind: "bare", of: found };
  }
  if (wantsHelp) return { kind: "help", of: found };
  const { spec } = found;
  const name = `svc ${spec.path.join(" ")}`;
  const own = { ...spec.flags, ...(spec.fields ? DATA : {}) };
  const { values, given } = readFlags(options, { ...own, ...GLOBAL }, name);
  const data = readData(values, spec, name);
  const args = readArgs(spec, words.slice(spec.path.length), name, canAsk);
  requireFlags(spec.flags, given, name);
  return {
    kind: "run",
    command: found,
    args,
    flags: values,
    globals: values as FlagsOf<typeof GLOBAL>,
    data,
  };
}

interface Option {
  name: string;
  raw: string;
  value: string | undefined;
  inline: boolean;
}

interface Word {
  value: string;
  /** After `--`: never a command's name. */
  literal: boolean;
}

/** A flag's name has one kind in the whole table, so a line can be cut before its command is known. */
function tokenize(table: Table, argv: readonly string[]): { options: Option[]; words: Word[] } {
  const config: Record<string, { type: "string" | "boolean"; short?: string }> = Object.create(null);
  const declare = (flags: Flags) => {
    for (const [name, flag] of Object.entries(flags)) {
      const type = flag.kind === "string" || flag.kind === "integer" ? "string" : "boolean";
      config[name] = flag.short === undefined ? { type } : { type, short: flag.short };
      for (const alias of flag.aliases ?? []) config[alias] = { type };
    }
  };
  declare({ ...ROOT, ...DATA, ...GLOBAL });
  for (const node of table) {
    for (const command of isGroup(node) ? node.commands : [node]) declare(command.spec.flags);
  }
  const { tokens } = parseArgs({
    args: [...argv],
    options: config,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const options: Option[] = [];
  const words: Word[] = [];
  let literal = false;
  for (const token of tokens) {
    if (token.kind === "option-terminator") literal = true;
    else if (token.kind === "positional") words.push({ value: token.value, literal });
    else {
      options.push({
        name: token.name,
        raw: token.rawName,
        value: token.value,
        inline: token.inlineValue === true,
      });
    }
  }
  return { options, words };
}

/** Habits from other tools that are no typos. */
const HABITS: Readonly<Record<string, string>> = {
  pr: "cr",
  mr: "cr",
  auth: "login",
  signin: "login",
  signout: "logout",
  repo: "projects",
  status: "whoami",
};

function find(table: Table, path: readonly string[], more: boolean): Group | Command | null {
  const [first, second] = path;
  if (first === undefined) {
    if (more) throw usage("A command is missing before `--`.", "svc help lists the commands.");
    return null;
  }
  const node = table.find((each) =>
    isGroup(each) ? each.name === first : namesOf(each.spec).includes(first),
  );
  if (!node) {
    const names = table.filter((each) => isGroup(each) || !each.spec.hidden).map(nameOf);
    throw unknown("command", `svc ${first}`, nearest(first, names) ?? HABITS[first], "svc", "svc help");
  }
  if (!isGroup(node)) return node;
  if (second === undefined) return node;
  const command = node.commands.find((each) => namesOf(each.spec).includes(second));
  if (command) return command;
  const names = node.commands.flatMap((each) => namesOf(each.spec));
  throw unknown(
    "command",
    `svc ${node.name} ${second}`,
    nearest(second, names),
    `svc ${node.name}`,
    `svc ${node.name} --help`,
  );
}

function unknown(what: string, word: string, guess: string | undefined, prefix: string, help: string) {
  return usage(
    `Unknown ${what}: ${word}`,
    guess === undefined ? `Run \`${help}\` for the list.` : `Did you mean \`${prefix} ${guess}\`?`,
  );
}

function readFlags(options: readonly Option[], flags: Flags, command: string) {
  const values: Values = {};
  const given = new Map<string, string>();
  for (const [name, flag] of Object.entries(flags)) {
    if (flag.kind === "boolean") values[name] = false;
    else if (flag.kind === "string" && flag.many) values[name] = [];
    else if (flag.kind === "string") values[name] = flag.fallback;
  }
  for (const option of options) {
    const name = canonical(option, flags);
    const flag = name === undefined ? undefined : flags[name];
    if (name === undefined || flag === undefined) throw unknownFlag(option, flags, command);
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

function canonical(option: Option, flags: Flags): string | undefined {
  if (!option.raw.startsWith("--")) {
    return Object.entries(flags).find(
      ([name, flag]) => name === option.name || flag.short === option.name,
    )?.[0];
  }
  if (Object.hasOwn(flags, option.name)) return option.name;
  return Object.entries(flags).find(([, flag]) => flag.aliases?.includes(option.name))?.[0];
}

function unknownFlag(option: Option, flags: Flags, command: string) {
  const names = Object.entries(flags).flatMap(([name, flag]) => [name, ...(flag.aliases ?? [])]);
  const guess = option.name.length > 1 ? nearest(option.name, names) : undefined;
  const hint =
    guess === undefined ? `Run \`${command} --help\` for the list.` : `Did you mean \`--${guess}\`?`;
  return usage(`Unknown flag: ${option.raw}`, hint);
}

function readValue(option: Option, flag: Flag, flags: Flags, command: string): unknown {
  const { raw, value, inline } = option;
  if (flag.kind === "boolean") {
    if (value !== undefined) throw usage(`${raw} takes no value.`);
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
      throw usage(`${raw} takes a whole number from ${flag.min} to ${flag.max}.`);
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
  return /^-[a-zA-Z]$/.test(word) && Object.values(flags).some((flag) => flag.short === word[1]);
}

function choose(what: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return;
  const guess = nearest(value, choices);
  throw usage(
    `${what} is one of ${choices.join(", ")}; not ${value}`,
    guess === undefined ? undefined : `Did you mean \`${guess}\`?`,
  );
}

function readData(values: Values, spec: Spec, command: string): DataFlags {
  const json = values["json"];
  const jq = typeof values["jq"] === "string" ? values["jq"] : undefined;
  if (typeof json !== "string") return { json: jq !== undefined, fields: null, jq };
  if (json === "") return { json: true, fields: null, jq };
  const known = spec.fields ?? [];
  const fields = json.split(",").map((field) => field.trim());
  for (const field of fields) {
    if (known.includes(field)) continue;
    const guess = nearest(field, known);
    throw usage(
      `Unknown JSON field for ${command}: ${field === "" ? "(empty)" : field}`,
      guess === undefined ? `Fields: ${known.join(", ")}` : `Did you mean \`${guess}\`?`,
    );
  }
  return { json: true, fields, jq };
}

function readArgs(spec: Spec, words: readonly Word[], command: string, canAsk: () => boolean): Values {
  const values: Values = {};
  const rest = words.map((word) => word.value);
  for (const arg of spec.args) {
    if (arg.many) {
      values[arg.name] = rest.splice(0);
      continue;
    }
    const value = rest.shift();
    if (value === undefined || value === "") {
      if (value === "" || arg.required === true || (arg.required === "ask" && !canAsk())) {
        throw missingArg(arg, spec, command);
      }
      continue;
    }
    if (arg.choices) choose(`<${arg.name}>`, value, arg.choices);
    values[arg.name] = value;
  }
  const [extra] = rest;
  if (extra !== undefined) {
    throw usage(
      `${command} does not take \`${extra}\`.`,
      spec.args.length === 0 ? "It takes no arguments." : `Usage: ${usageLine(spec)}`,
    );
  }
  return values;
}

function missingArg(arg: Arg, spec: Spec, command: string) {
  const shell = arg.completes === "cr" ? " A shell reads #3 as a comment: write 3, or quote it." : "";
  return usage(
    `${command} needs <${arg.name}>: ${lowerFirst(arg.summary)}.${shell}`,
    `Usage: ${usageLine(spec)}`,
  );
}

function requireFlags(flags: Flags, given: ReadonlyMap<string, string>, command: string): void {
  const missing = Object.entries(flags).flatMap(([name, flag]) =>
    flag.kind === "string" && flag.required && !given.has(name) ? [`--${name} <${flag.value}>`] : [],
  );
  if (missing.length > 0)
    throw usage(`${command} needs ${missing.join(" and ")}.`, `Run \`${command} --help\`.`);
}

/** `svc cr show <cr> [flags]`. */
export function usageLine(spec: Spec): string {
  const args = spec.args.map((arg) => {
    const shown = `<${arg.name}>${arg.many ? "..." : ""}`;
    return arg.required === true ? shown : `[${shown}]`;
  });
  const required = Object.entries(spec.flags).flatMap(([name, flag]) =>
    flag.kind === "string" && flag.required ? [`--${name} <${flag.value}>`] : [],
  );
  return ["svc", ...spec.path.slice(0, -1), lastWord(spec), ...args, ...required, "[flags]"].join(" ");
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
