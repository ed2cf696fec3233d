import { isReservedName, SECRET_NAME } from "../../../src/contract/environment.ts";
import type { Secret } from "../../../src/contract/secret.ts";
import { AUDIENCE } from "../../../src/contract/secret-audience.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { readSecret } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/secrets.ts";
import { oneLine } from "../../text.ts";
import { sentences, setMine } from "./mine.ts";

export const set: Handler<typeof table.set> = async (context, { args, flags }) => {
  const words = args["NAME=VALUE"];
  const kept = flags.mine ? words.filter((word) => SECRET_NAME.test(word)) : [];
  const pairs = words.filter((word) => !kept.includes(word)).map(readPair);
  if (pairs.filter(([, value]) => value === "-").length > 1) {
    throw usage("Standard input holds one value: only one NAME=- is allowed.");
  }
  if (flags.mine && flags.for !== undefined)
    throw usage(
      "--for cannot be used with --mine: your own secrets are for your sessions in a project.",
      "Name the project with --project <id-or-slug>.",
    );
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    values.set(name, value === "-" ? await readSecret(context, value, `${name}=-`) : value);
  }
  if (flags.mine) {
    requireNames([...values.keys(), ...kept]);
    const mine = await setMine(context, values, kept);
    return await context.out.result(mine, () => sentences(mine));
  }
  const done = await setAll(context, values, readAudience(flags.for));
  await context.out.result(done, () => `Set ${done.map(({ name }) => name).join(", ")}.\n`);
};

/** Sets secrets one by one. All names are checked before the first request. */
export async function setAll(
  context: Context,
  values: ReadonlyMap<string, string>,
  audience?: string[],
): Promise<Secret[]> {
  requireNames([...values.keys()]);
  const { id } = await context.project();
  const api = await context.api();
  const done: Secret[] = [];
  for (const [name, value] of values) {
    done.push(
      await api.call<Secret>({
        method: "PUT",
        path: path`/projects/${id}/secrets/${name}`,
        body: { value, ...(audience && { for: audience }) },
      }),
    );
  }
  return done;
}

/** @throws CliError `usage` for an invalid audience */
function readAudience(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const entries = text.split(",").map((entry) => entry.trim());
  const bad = entries.find((entry) => !new RegExp(AUDIENCE).test(entry));
  if (bad === undefined) return entries;
  throw usage(
    `--for: "${oneLine(bad.slice(0, 80))}" is not valid.`,
    "Valid are sessions, builds, apps, apps:<slug>, previews, triggers:<slug>, checks and connectors, separated by commas.",
  );
}

function readPair(text: string): [name: string, value: string] {
  const equals = text.indexOf("=");
  // not printed: it may be a value without its name
  if (equals < 1)
    throw usage(
      "A secret must be NAME=VALUE.",
      "svc secrets set API_KEY=- reads the value from standard input.",
    );
  return [text.slice(0, equals), text.slice(equals + 1)];
}

function requireNames(names: readonly string[]): void {
  for (const name of names) requireName(name);
}

function requireName(name: string): void {
  const shown = oneLine(name.slice(0, 80));
  if (!SECRET_NAME.test(name)) {
    throw usage(
      `"${shown}" is not a valid secret name: 1 to 64 of A-Z, 0-9 and _, not beginning with a digit.`,
    );
  }
  if (isReservedName(name))
    throw usage(`"${shown}" is reserved for svc or the sandbox. Choose another name.`);
}
