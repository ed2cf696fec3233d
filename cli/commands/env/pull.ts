import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { SecretList } from "../../../src/contract/secret.ts";
import { path } from "../../api.ts";
import { CliError, systemCode } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/secrets.ts";
import { oneLine } from "../../text.ts";

export const pull: Handler<typeof table.pull> = async (context, { flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const { items, required, optional } = await api.call<SecretList>({ path: path`/projects/${id}/secrets` });
  const names = [...new Set([...items.map(({ name }) => name), ...required, ...optional])].sort();
  const file = resolve(context.system.cwd, flags.out);
  await write(file, skeleton(names, required), flags);
  await context.out.result(
    { path: file, names },
    () => `Wrote ${oneLine(flags.out)} with ${names.length} names.\n`,
  );
};

/** Mode 0600, because the file will hold secrets. */
async function write(
  file: string,
  text: string,
  { out, force }: { out: string; force: boolean },
): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600, flag: force ? "w" : "wx" });
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST")
      throw new CliError("file", `${oneLine(out)} already exists.`, {
        hint: "Pass --force to replace it, or --out <path>.",
      });
    throw new CliError("file", `${oneLine(out)} cannot be written (${code ?? "unknown error"}).`);
  }
}

function skeleton(names: readonly string[], required: readonly string[]): string {
  const lines = names.map((name) => `${name}=${required.includes(name) ? " # required" : ""}`);
  return `# Names of the project's secrets. Fill in values, then: svc env push --from <this file>\n${lines.join("\n")}\n`;
}
