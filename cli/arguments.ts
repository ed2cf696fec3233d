import { nearest } from "../src/contract/nearest.ts";
import { usage } from "./failure.ts";
import { choose, DATA, GLOBAL, type Option, readFlags, tokenize, type Word } from "./flags.ts";
import { hintFor, hintInGroup, notYet } from "./guesses.ts";
import { EXTRA_HINTS } from "./hints.ts";
import { takeFields } from "./json-fields.ts";
import { entryOf, type Found, lookUp, type Table } from "./lookup.ts";
import {
  type Arg,
  type Command,
  type Flag,
  type Flags,
  type FlagsOf,
  type Group,
  isGroup,
  type Spec,
  type Values,
} from "./spec.ts";
import { PLANNED } from "./words.ts";

export interface DataFlags {
  json: boolean;
  /** Null: all fields. */
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

/**
 * Parses a command line by the table. Flags may be anywhere, as `--flag value` or `--flag=value`; `--` ends them.
 * @throws CliError `usage` for anything else, with the nearest valid name.
 */
export function parse(table: Table, argv: readonly string[], canAsk: () => boolean): Parsed {
  const { options, words } = tokenize(table, argv);
  const wantsHelp = options.some((option) => option.name === "help" || option.name === "h");
  const path = words.filter((word) => !word.literal).map((word) => word.value);
  const found = find(table, path, words.length > path.length, options);
  if (found === null || isGroup(found.node)) {
    if (wantsHelp) return { kind: "help", of: found?.node ?? null };
    if (found === null && options.some((option) => option.name === "version" || option.name === "V")) {
      return { kind: "version" };
    }
    readFlags(options, GLOBAL, "svc");
    return found === null || !isGroup(found.node)
      ? { kind: "help", of: null }
      : { kind: "bare", of: found.node };
  }
  const command = found.node;
  if (wantsHelp) return { kind: "help", of: command };
  const { spec } = command;
  const name = `svc ${spec.path.join(" ")}`;
  const own = { ...spec.flags, ...(spec.fields ? DATA : {}) };
  // Tokenized again: a short flag may mean something else in another command.
  const tokens = tokenize([command], argv);
  const line = takeFields(spec, { ...tokens, words: tokens.words.slice(found.taken) });
  const { values, given } = readFlags(line.options, { ...own, ...GLOBAL }, name);
  const data = readData(values, spec, name);
  const args = readArgs(spec, line.words, name, canAsk);
  requireFlags(spec.flags, given, name);
  return {
    kind: "run",
    command,
    args,
    flags: values,
    globals: values as FlagsOf<typeof GLOBAL>,
    data,
  };
}

function find(
  table: Table,
  path: readonly string[],
  more: boolean,
  options: readonly Option[],
): Found | null {
  const [first, ...rest] = path;
  if (first === undefined) {
    if (more) throw usage("A command is missing before `--`.", "svc help lists the commands.");
    return null;
  }
  const found = lookUp(table, path);
  if (found !== undefined) return found;
  const group = entryOf(table, first);
  if (group === undefined || !isGroup(group)) return { node: newProject(table, path, options), taken: 0 };
  throw usage(`Unknown command: svc ${first} ${rest[0]}`, hintInGroup(table, group, rest));
}

/**
 * Treats an unknown word as the name of a new project, unless it is like a command (contract: `svc <word>`).
 * @throws CliError `usage`
 */
function newProject(table: Table, path: readonly string[], options: readonly Option[]) {
  const [word = "", ...rest] = path;
  if (PLANNED.has(word)) {
    throw usage(
      notYet(`svc ${word}`),
      "`svc help` lists the commands, and `svc version` prints the version.",
    );
  }
  const hint = hintFor(table, path);
  const command = table.find((each): each is Command => !isGroup(each) && each.spec.anyName === true);
  const isName = hint === undefined && rest.length === 0 && PROJECT_NAME.test(word);
  if (isName && command?.spec.anyName && fits(options, command.spec)) return command;
  throw usage(`Unknown command: svc ${word}`, hint ?? "Run `svc help` for the list.");
}

/** The form of a project's slug (contract: Accounts, tokens, projects), which is derived from its name. */
export const PROJECT_NAME = /^(?=.{1,40}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

function fits(options: readonly Option[], { flags }: Spec): boolean {
  const known: [string, Flag][] = Object.entries({ ...flags, ...DATA, ...GLOBAL });
  return options.every(({ name }) =>
    known.some(([long, { short }]) => long !== "help" && (name === long || name === short)),
  );
}

function readData(values: Values, spec: Spec, command: string): DataFlags {
  const json = values["json"];
  if (values["web"] === true && (json !== undefined || values["jq"] !== undefined))
    throw usage("--web cannot be used with --json or --jq.");
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
  for (const [at, arg] of spec.args.entries()) {
    const later = spec.args.slice(at + 1).filter(({ required }) => required === true).length;
    // `svc cr reply <comment> <text>`: the words suffice only for what is required
    if (arg.required === undefined && later > 0 && rest.length <= later) continue;
    if (arg.many) {
      if (arg.required === true && rest.length === 0) throw missingArg(arg, spec, command);
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
    throw usage(`${command} does not take \`${extra}\`.`, extraHint(spec, command, extra));
  }
  return values;
}

function extraHint(spec: Spec, command: string, extra: string): string {
  // gh's -q is --jq
  if (/^[.[]/.test(extra) && spec.fields) return "To filter the JSON: `--jq <expression>`.";
  return (
    EXTRA_HINTS[command] ?? (spec.args.length === 0 ? "It takes no arguments." : `Usage: ${usageLine(spec)}`)
  );
}

function missingArg(arg: Arg, spec: Spec, command: string) {
  return usage(`${command} needs <${arg.name}>: ${lowerFirst(arg.summary)}.`, `Usage: ${usageLine(spec)}`);
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
  const args = (spec.anyName ? [] : spec.args).map((arg) => {
    const shown = `<${arg.name}>${arg.many ? "..." : ""}`;
    return arg.required === true ? shown : `[${shown}]`;
  });
  const required = Object.entries(spec.flags).flatMap(([name, flag]) =>
    flag.kind === "string" && flag.required ? [`--${name} <${flag.value}>`] : [],
  );
  return ["svc", ...spec.path, ...args, ...required, "[flags]"].join(" ");
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
