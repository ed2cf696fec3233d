import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { readText } from "../../input.ts";

interface Flags {
  readonly description: string | undefined;
  readonly "description-file": string | undefined;
}

/** The description given by a flag, if any. @throws CliError `usage` if both flags are given. */
export async function readDescription(context: Context, flags: Flags): Promise<string | undefined> {
  const file = flags["description-file"];
  if (file === undefined) return flags.description;
  if (flags.description !== undefined) {
    throw usage("--description and --description-file cannot be used together.");
  }
  return readText(context, file, "--description-file");
}
