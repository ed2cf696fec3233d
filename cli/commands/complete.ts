import type { Agent } from "../../src/contract/agent.ts";
import type { ChangeRequest } from "../../src/contract/change-request.ts";
import type { Project } from "../../src/contract/project.ts";
import type { Branch } from "../../src/contract/repository.ts";
import { choicesOf, isQualifier, QUALIFIERS, SORTS } from "../../src/contract/search/qualifiers.ts";
import type { Session } from "../../src/contract/session.ts";
import { path } from "../api.ts";
import type { DataFlags } from "../arguments.ts";
import { configPath, listHosts, readConfig } from "../config.ts";
import { type Context, makeContext } from "../context.ts";
import { CliError } from "../failure.ts";
import { DATA, GLOBAL } from "../flags.ts";
import { commandOf, entryOf } from "../lookup.ts";
import { makeOutput } from "../output.ts";
import {
  type Command,
  type Completes,
  type Flag,
  type Flags,
  type Group,
  type Handler,
  isGroup,
  lastWord,
} from "../spec.ts";
import type * as table from "../table/tools.ts";
import { TABLE } from "../table.ts";
import { oneLine } from "../text.ts";
import { TOPICS } from "../topics.ts";

/** The user waits for completion: values that the server does not return within this time are left out. */
const BUDGET_MS = 600;
/** Values that need no quoting in any shell. Others are left out. */
const PLAIN = /^[\w./@:%+=,-]+$/;

interface Candidate {
  value: string;
  text?: string;
}

/** Prints candidates for the last word. It has no side effects, and prints nothing on a failure. */
export const complete: Handler<typeof table.complete> = async (context, { args }) => {
  const found = await candidates(context, joinAssignments(args.words)).catch(() => []);
  const text = found
    .filter(({ value }) => value === ":files" || PLAIN.test(value))
    .map(({ value, text }) => (text ? `${value}\t${oneLine(text)}\n` : `${value}\n`))
    .join("");
  await context.system.stdout.write(text);
};

/** bash splits `--status=op` into three words, and completes only the part after the `=`. */
function joinAssignments(words: readonly string[]): { words: string[]; strip: number } {
  const joined: string[] = [];
  let strip = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "=" && joined.at(-1)?.startsWith("--")) {
      const next = words[at + 1];
      const flag = `${joined.pop()}=`;
      strip = at + 2 >= words.length ? flag.length : 0;
      joined.push(flag + (next ?? ""));
      at++;
    } else joined.push(word);
  }
  return { words: joined, strip };
}

async function candidates(context: Context, line: { words: string[]; strip: number }): Promise<Candidate[]> {
  const { words, strip } = line;
  const current = words.at(-1) ?? "";
  const { node, rest, pending, given, literal } = walk(words.slice(0, -1));
  const flags = node === null || isGroup(node) ? GLOBAL : flagsOf(node);
  const scope = await scopeOf(context, given);
  let found: Candidate[];
  const assignment = /^--([a-z-]+)=(.*)$/s.exec(current);
  if (pending !== undefined) found = await ofFlag(scope, pending, node, current);
  else if (assignment && !literal) {
    const [, name = "", value = ""] = assignment;
    const flag = flagNamed(flags, name);
    const values = flag ? await ofFlag(scope, flag, node, value) : [];
    found = values.map((each) => ({ ...each, value: `--${name}=${each.value}` }));
  } else if (current.startsWith("-") && !literal) found = flagCandidates(flags, given);
  else found = await ofWord(scope, node, rest);
  return found
    .filter(({ value }) => value === ":files" || value.startsWith(current))
    .map((each) => ({ ...each, value: strip > 0 ? each.value.slice(strip) : each.value }));
}

interface Walked {
  node: Group | Command | null;
  rest: string[];
  /** The flag whose value comes next. */
  pending: Flag | undefined;
  given: Map<string, string>;
  literal: boolean;
}

function walk(words: readonly string[]): Walked {
  const walked: Walked = { node: null, rest: [], pending: undefined, given: new Map(), literal: false };
  let pendingName = "";
  for (const word of words) {
    if (walked.pending) {
      walked.given.set(pendingName, word);
      walked.pending = undefined;
    } else if (word === "--") walked.literal = true;
    else if (word.startsWith("-") && !walked.literal) {
      const [name = "", value] = word.replace(/^--?/, "").split(/=(.*)/s);
      const flags = walked.node === null || isGroup(walked.node) ? ALL_FLAGS() : flagsOf(walked.node);
      const flag = flagNamed(flags, name);
      walked.given.set(name, value ?? "");
      if (flag && value === undefined && (flag.kind === "string" || flag.kind === "integer")) {
        walked.pending = flag;
        pendingName = name;
      }
    } else step(walked, word);
  }
  return walked;
}

function step(walked: Walked, word: string): void {
  const { node } = walked;
  if (node === null) {
    walked.node = entryOf(TABLE, word) ?? null;
    if (walked.node === null) walked.rest.push(word);
  } else if (isGroup(node)) {
    const command = commandOf(node, [...walked.rest, word]);
    walked.rest.push(word);
    if (command) {
      walked.node = command;
      walked.rest = [];
    }
  } else walked.rest.push(word);
}

const flagsOf = ({ spec }: Command): Flags => ({ ...spec.flags, ...(spec.fields ? DATA : {}), ...GLOBAL });
const ALL_FLAGS = (): Flags => ({ ...GLOBAL, ...DATA });

function flagNamed(flags: Flags, name: string): Flag | undefined {
  return (
    (Object.hasOwn(flags, name) ? flags[name] : undefined) ??
    Object.values(flags).find((flag) => flag.short === name || flag.aliases?.includes(name))
  );
}

function flagCandidates(flags: Flags, given: ReadonlyMap<string, string>): Candidate[] {
  return Object.entries(flags)
    .filter(([name, flag]) => !given.has(name) || (flag.kind === "string" && flag.many))
    .map(([name, flag]) => ({ value: `--${name}`, text: flag.summary }));
}

async function ofFlag(
  scope: Context,
  flag: Flag,
  node: Walked["node"],
  current: string,
): Promise<Candidate[]> {
  if (flag === DATA.json || (flag.kind === "optional" && flag.value === "fields"))
    return ofFields(node, current);
  if ("choices" in flag && flag.choices) return flag.choices.map((value) => ({ value }));
  return "completes" in flag && flag.completes ? values(scope, flag.completes) : [];
}

/** `--json=number,ti`: the fields that are not listed yet, after the ones that are. */
function ofFields(node: Walked["node"], current: string): Candidate[] {
  const known = node === null || isGroup(node) ? [] : (node.spec.fields ?? []);
  const before = current.split(",").slice(0, -1);
  const prefix = before.map((field) => `${field},`).join("");
  return known.filter((field) => !before.includes(field)).map((field) => ({ value: prefix + field }));
}

async function ofWord(scope: Context, node: Walked["node"], rest: readonly string[]): Promise<Candidate[]> {
  if (node === null) {
    if (rest.length > 0) return [];
    return TABLE.flatMap((each) => {
      if (isGroup(each)) return [{ value: each.name, text: each.summary }];
      return each.spec.hidden || each.spec.anyName
        ? []
        : [{ value: lastWord(each.spec), text: each.spec.summary }];
    });
  }
  if (isGroup(node)) {
    return commandWords(node, rest);
  }
  const { args } = node.spec;
  const arg = args[rest.length] ?? (args.at(-1)?.many ? args.at(-1) : undefined);
  if (!arg) return [];
  if (arg.choices) return arg.choices.map((value) => ({ value }));
  if (arg.completes === "topic") return topics(rest);
  return arg.completes ? values(scope, arg.completes) : [];
}

/** The next words of the group's commands after `rest`, without the hidden ones. */
function commandWords(group: Group, rest: readonly string[]): Candidate[] {
  const before = rest.map((word) => `${word} `).join("");
  const found = new Map<string, string>();
  for (const { spec } of group.commands) {
    const name = lastWord(spec);
    const [word = "", more] = name.slice(before.length).split(" ");
    if (spec.hidden || !name.startsWith(before) || found.has(word)) continue;
    found.set(word, more === undefined ? spec.summary : `${before}${word} …`);
  }
  return [...found].map(([value, text]) => ({ value, text }));
}

function topics(rest: readonly string[]): Candidate[] {
  const [first] = rest;
  if (first === undefined) {
    const names = TABLE.flatMap((each) =>
      isGroup(each) ? each.name : each.spec.hidden || each.spec.anyName ? [] : lastWord(each.spec),
    );
    return [...names, ...Object.keys(TOPICS)].map((value) => ({ value }));
  }
  const group = entryOf(TABLE, first);
  return group && isGroup(group) ? commandWords(group, rest.slice(1)) : [];
}

async function values(scope: Context, what: Completes): Promise<Candidate[]> {
  if (what === "file") return [{ value: ":files" }];
  if (what === "host") {
    const config = await readConfig(configPath(scope.system));
    return listHosts(config).map(({ name, url }) => ({ value: name, text: url }));
  }
  if (what === "branch") return branches(scope);
  if (what === "search") return searchWords();
  if (what === "project") {
    const api = await scope.api();
    const found = await api.list<Project>({ path: "/projects" }, "projects", 200);
    return found.map(({ slug, name }) => ({ value: slug, text: name }));
  }
  // the project may be one on another host, so it is first
  const { id } = await scope.project();
  const api = await scope.api();
  if (what === "agent") {
    const { agents } = await api.call<{ agents: Agent[] }>({ path: path`/projects/${id}/agents` });
    return agents
      .filter(({ mode }) => mode !== "subagent")
      .map(({ name, description }) => ({ value: name, text: description ?? "" }));
  }
  if (what === "session") {
    const found = await api.list<Session>({ path: path`/projects/${id}/sessions` }, "sessions", 200);
    return found.map(({ session_id, name, status }) => ({
      value: session_id,
      text: `${name ?? ""} (${status})`.trim(),
    }));
  }
  const call = { path: path`/projects/${id}/change-requests`, query: { status: "open" } };
  const found = await api.list<ChangeRequest>(call, "change_requests", 100);
  return found.map(({ number, title }) => ({ value: String(number), text: title }));
}

/** The qualifiers of a search, with their values. */
function searchWords(): Candidate[] {
  const names = Object.keys(QUALIFIERS).filter(isQualifier);
  return [
    ...names.flatMap((name) => {
      const { about } = QUALIFIERS[name];
      return (choicesOf(name) ?? [""]).map((value) => ({ value: `${name}:${value}`, text: about }));
    }),
    ...SORTS.map((sort) => ({ value: `sort:${sort}` })),
  ];
}

/** The current branch of the work tree, then those of the project's repository if the server responds. */
async function branches(scope: Context): Promise<Candidate[]> {
  const { currentBranch } = await import("../git-branch.ts");
  const listed = async () => {
    const { id } = await scope.project();
    const api = await scope.api();
    return await api.list<Branch>({ path: path`/projects/${id}/branches` }, "branches", 200);
  };
  const [current, found] = await Promise.all([currentBranch(scope.system.cwd), listed().catch(() => [])]);
  const others = found.filter(({ name }) => name !== current);
  return [
    ...(current === null ? [] : [{ value: current, text: "the current branch" }]),
    ...others.map(({ name, is_default }) => ({ value: name, text: is_default ? "the default branch" : "" })),
  ];
}

/** A context for the host and project of the command line, without output and with a short timeout. */
async function scopeOf({ system, globals }: Context, given: ReadonlyMap<string, string>): Promise<Context> {
  const data: DataFlags = { json: true, fields: null, jq: undefined };
  const out = makeOutput(system, data, { color: "never", noColor: true, quiet: true });
  const signal = AbortSignal.timeout(BUDGET_MS);
  const limited = {
    ...system,
    // A CliError is not retried.
    fetch: (url: string, init: RequestInit) =>
      system.fetch(url, { ...init, signal }).catch(() => {
        throw new CliError("network", "No response in time.");
      }),
  };
  const own = { ...globals, host: given.get("host"), project: given.get("project"), timeout: 1 };
  return makeContext({ system: limited, globals: own, out });
}
