import { usageLine } from "./arguments.ts";
import { DATA, GLOBAL } from "./flags.ts";
import { flagName, flagSummary } from "./help.ts";
import { type Command, type Flags, isGroup, type Spec } from "./spec.ts";
import { TABLE } from "./table.ts";
import { TOPICS } from "./topics.ts";

/** `bun cli/docs.ts` writes docs/cli.md from the table of commands. */
export function renderDocs(): string {
  const commands = TABLE.flatMap((node) => (isGroup(node) ? node.commands : [node])).filter(isShown);
  return [
    "# svc, the command-line client\n",
    "<!-- Made by `bun cli/docs.ts` from the table of commands in cli/table. Do not edit. -->\n",
    "`svc help <command>` shows the same. Data goes to stdout, everything else to stderr.\n",
    "| Command | |\n|---|---|",
    ...commands.map(
      ({ spec }) => `| [\`svc ${spec.path.join(" ")}\`](#${anchor(spec)}) | ${cell(spec.summary)} |`,
    ),
    "\n## Flags of every command\n",
    flagTable(GLOBAL),
    "\nCommands that print data also take:\n",
    flagTable(DATA),
    ...commands.map(({ spec }) => commandPage(spec)),
    "\n## Topics\n",
    ...Object.entries(TOPICS).map(([name, text]) => `### ${name}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`),
  ].join("\n");
}

const isShown = (command: Command): boolean => !command.spec.hidden;
const anchor = (spec: Spec): string => `svc-${spec.path.join("-").replace(/[<>]/g, "")}`;
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

function commandPage(spec: Spec): string {
  const aliases = (spec.aliases ?? []).map(
    (alias) => `\`svc ${[...spec.path.slice(0, -1), alias].join(" ")}\``,
  );
  return [
    `\n## svc ${cell(spec.path.join(" "))}\n`,
    `${spec.summary}.\n`,
    `\`\`\`sh\n${usageLine(spec)}\n\`\`\`\n`,
    ...(spec.about ?? []).map((paragraph) => `${paragraph}\n`),
    ...(aliases.length > 0 ? [`Aliases: ${aliases.join(", ")}\n`] : []),
    ...(spec.args.length > 0
      ? [
          "| Argument | |\n|---|---|",
          ...spec.args.map((arg) => `| \`<${arg.name}>\` | ${cell(arg.summary)} |`),
          "",
        ]
      : []),
    ...(Object.keys(spec.flags).length > 0 ? [flagTable(spec.flags), ""] : []),
    ...(spec.fields ? [`JSON fields: ${spec.fields.map((field) => `\`${field}\``).join(", ")}\n`] : []),
    `\`\`\`sh\n${spec.examples.map(([command, says]) => `# ${says}\n${command}`).join("\n")}\n\`\`\``,
  ].join("\n");
}

function flagTable(flags: Flags): string {
  const rows = Object.entries(flags).map(
    ([name, flag]) => `| \`${flagName(name, flag)}\` | ${cell(flagSummary(flag))} |`,
  );
  return ["| Flag | |", "|---|---|", ...rows].join("\n");
}

if (import.meta.main) {
  await Bun.write(`${import.meta.dir}/../docs/cli.md`, renderDocs());
}
