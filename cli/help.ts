import { usageLine } from "./arguments.ts";
import { DATA, GLOBAL } from "./flags.ts";
import { type Command, type Flag, type Flags, type Group, isGroup, lastWord, type Spec } from "./spec.ts";
import { TABLE } from "./table.ts";

const WIDTH = 80;

/** Help for a command, a group, or `svc` itself. */
export function helpFor(node: Group | Command | null): string {
  if (node === null) return rootHelp();
  return isGroup(node) ? groupHelp(node) : commandHelp(node.spec);
}

function rootHelp(): string {
  const groups = TABLE.filter(isGroup);
  const single = TABLE.filter((node): node is Command => !isGroup(node) && !node.spec.hidden);
  return [
    "svc lets coding agents work on your repositories and propose their work as change requests.\n",
    section("USAGE", ["svc <command> [flags]"]),
    ...groups.map((group) =>
      section(
        group.summary.toUpperCase(),
        columns(shown(group).map(({ spec }) => [spec.path.join(" "), spec.summary])),
      ),
    ),
    section("OTHER COMMANDS", columns(single.map(({ spec }) => [spec.path.join(" "), spec.summary]))),
    section("FLAGS OF EVERY COMMAND", flagLines(GLOBAL)),
    section("EXAMPLES", [
      "svc login",
      "svc projects link",
      'svc sessions new --prompt "Fix the login page"',
      'svc cr open --title "Fix the login page"',
      "svc cr merge 3",
    ]),
    section("LEARN MORE", [
      "svc <command> --help",
      "svc help environment | exit-codes | extensions | json | sandbox",
    ]),
  ].join("\n");
}

function groupHelp(group: Group): string {
  const examples = shown(group)
    .flatMap(({ spec }) => spec.examples.slice(0, 1))
    .slice(0, 3);
  return [
    `${group.summary}\n`,
    section("USAGE", [`svc ${group.name} <command> [flags]`]),
    section("COMMANDS", columns(shown(group).map(({ spec }) => [lastWord(spec), spec.summary]))),
    section(
      "EXAMPLES",
      examples.flatMap(([command, description]) => [`# ${description}`, command]),
    ),
    section("LEARN MORE", [`svc ${group.name} <command> --help`]),
  ].join("\n");
}

function commandHelp(spec: Spec): string {
  const own = Object.keys(spec.flags).length > 0 || spec.fields;
  const parts = [
    `${spec.summary}\n`,
    ...(spec.about ?? []).map((paragraph) => `${wrap(paragraph, WIDTH)}\n`),
    section("USAGE", [usageLine(spec)]),
  ];
  if (spec.aliases) {
    const names = spec.aliases.map((alias) => ["svc", ...spec.path.slice(0, -1), alias].join(" "));
    parts.push(section("ALIASES", [names.join(", ")]));
  }
  if (spec.args.length > 0) {
    parts.push(section("ARGUMENTS", columns(spec.args.map((arg) => [`<${arg.name}>`, arg.summary]))));
  }
  if (own) parts.push(section("FLAGS", flagLines({ ...spec.flags, ...(spec.fields ? DATA : {}) })));
  if (spec.fields) parts.push(section("JSON FIELDS", wrap(spec.fields.join(", "), WIDTH - 2).split("\n")));
  parts.push(section("FLAGS OF EVERY COMMAND", flagLines(GLOBAL)));
  parts.push(
    section(
      "EXAMPLES",
      spec.examples.flatMap(([command, description]) => [`# ${description}`, command]),
    ),
  );
  return parts.join("\n");
}

const shown = (group: Group): Command[] => group.commands.filter(({ spec }) => !spec.hidden);

const section = (title: string, body: readonly string[]): string =>
  `${title}\n${body.map((line) => `  ${line}\n`).join("")}`;

/** `-h, --help` and its summary. */
function flagLines(flags: Flags): string[] {
  return columns(Object.entries(flags).map(([name, flag]) => [flagName(name, flag), flagSummary(flag)]));
}

export function flagName(name: string, flag: Flag): string {
  const short = flag.short === undefined ? "" : `-${flag.short}, `;
  if (flag.kind === "boolean") return `${short}--${name}`;
  if (flag.kind === "optional") return `${short}--${name}[=${flag.value}]`;
  return `${short}--${name} <${flag.value}>`;
}

export function flagSummary(flag: Flag): string {
  const aliases = flag.aliases ? ` (also ${flag.aliases.map((alias) => `--${alias}`).join(", ")})` : "";
  const required = flag.kind === "string" && flag.required ? " (required)" : "";
  return `${flag.summary}${aliases}${required}`;
}

/** Two columns; a long first column gets its own line. */
function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(24, Math.max(...rows.map(([name]) => name.length)));
  return rows.flatMap(([name, text]) => {
    const [first = "", ...rest] = wrap(text, WIDTH - width - 4).split("\n");
    const indent = " ".repeat(width + 2);
    if (name.length > width) return [name, ...[first, ...rest].map((line) => indent + line)];
    return [`${name.padEnd(width)}  ${first}`, ...rest.map((line) => indent + line)];
  });
}

function wrap(text: string, width: number): string {
  const result: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      result.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...result, line].join("\n");
}
