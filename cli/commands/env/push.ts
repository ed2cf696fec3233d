import { readDotenv } from "../../dotenv.ts";
import { usage } from "../../failure.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/secrets.ts";
import { oneLine } from "../../text.ts";
import { setAll } from "../secrets/set.ts";

export const push: Handler<typeof table.push> = async (context, { flags }) => {
  const file = flags.from === "-" ? "Standard input" : oneLine(flags.from);
  const found = readDotenv(await readText(context, flags.from, "--from"));
  if ("line" in found) throw usage(`Line ${found.line} of ${file} cannot be parsed: ${found.reason}.`);
  // empty values, as `env pull` writes them, must not clear secrets
  const values = new Map([...found.values].filter(([, value]) => value !== ""));
  const left = found.values.size - values.size;
  if (values.size === 0)
    throw usage(`${file} sets no value.`, "Add lines NAME=VALUE, then run the command again.");
  const done = await setAll(context, values);
  await context.out.result(done, () => `Set ${done.map(({ name }) => name).join(", ")}.\n`);
  if (left > 0) await context.out.note(`Skipped ${left} without a value.`);
};
