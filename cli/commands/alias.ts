import { ALIAS_NAME, configPath, readConfig } from "../config.ts";
import { updateConfig } from "../config-write.ts";
import type { Context } from "../context.ts";
import { CliError, usage } from "../failure.ts";
import { entryOf } from "../lookup.ts";
import type { Handler } from "../spec.ts";
import { splitWords } from "../split-words.ts";
import type * as spec from "../table/alias.ts";
import { TABLE } from "../table.ts";
import { type Column, table } from "../table-print.ts";
import { oneLine } from "../text.ts";

/** The configuration is read for each alias that is used. */
const ALIASES_MAX = 100;
const COMMAND_MAX = 1000;

export const set: Handler<typeof spec.set> = async (context, { args }) => {
  checkUsed(context);
  const { name } = args;
  const command = args.command.trim().replace(/^svc\s+/, "");
  checkName(name);
  checkCommand(command);
  await updateConfig(configPath(context.system), (config) => {
    const aliases = { ...config.aliases, [name]: command };
    if (Object.keys(aliases).length > ALIASES_MAX)
      throw usage(
        `There are ${ALIASES_MAX} aliases, the most that svc keeps.`,
        "Remove one: svc alias rm <name>",
      );
    return { ...config, aliases };
  });
  await context.out.result({ name, command }, () => `svc ${name} is now svc ${oneLine(command)}\n`);
};

export const ls: Handler<typeof spec.ls> = async (context) => {
  checkUsed(context);
  const { aliases = {} } = await readConfig(configPath(context.system));
  const rows = Object.entries(aliases).map(([name, command]) => ({ name, command }));
  rows.sort((a, b) => a.name.localeCompare(b.name));
  await context.out.result(rows, (view) => (rows.length === 0 ? "" : table(rows, COLUMNS, view)));
  if (rows.length === 0) await context.out.note("No aliases. To define one: svc alias set co 'cr checkout'");
};

export const rm: Handler<typeof spec.rm> = async (context, { args }) => {
  checkUsed(context);
  const { name } = args;
  await updateConfig(configPath(context.system), (config) => {
    const { [name]: removed, ...aliases } = config.aliases ?? {};
    if (removed === undefined)
      throw new CliError("not_found", `There is no alias ${oneLine(name).slice(0, 100)}.`, {
        hint: "`svc alias ls` lists them.",
      });
    return { ...config, aliases };
  });
  await context.out.result({ name, removed: true }, () => `Removed the alias ${oneLine(name)}.\n`);
};

const COLUMNS: Column<{ name: string; command: string }>[] = [
  { title: "NAME", value: ({ name }) => name, paint: (_, view) => view.paint.cyan },
  { title: "COMMAND", value: ({ command }) => command, flexible: true },
];

function checkUsed({ sandbox }: Context): void {
  if (sandbox) throw usage("Aliases are in svc's configuration, which svc does not use in a sandbox.");
}

function checkName(name: string): void {
  if (!ALIAS_NAME.test(name)) {
    throw usage(
      `Not a name of an alias: ${oneLine(name).slice(0, 100)}`,
      "It consists of lower-case letters, digits and dashes, and is at most 40 characters long.",
    );
  }
  if (entryOf(TABLE, name) !== undefined) {
    throw usage(`svc ${name} is a command, so it cannot be an alias.`, "Choose another name.");
  }
}

function checkCommand(command: string): void {
  if (command.length > COMMAND_MAX) throw usage(`The command is longer than ${COMMAND_MAX} characters.`);
  const [first = ""] = splitWords(command);
  if (entryOf(TABLE, first) === undefined) {
    throw usage(
      `An alias stands for a command of svc, and this is none: svc ${oneLine(first).slice(0, 100)}`,
      "`svc help` lists the commands. To run another program, name it svc-<name> and put it on the PATH.",
    );
  }
}
