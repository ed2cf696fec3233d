import { writeFile } from "node:fs/promises";
import { dirname, relative, resolve, sep } from "node:path";
import type { SecretList } from "../../../src/contract/secret.ts";
import { path } from "../../api.ts";
import { CliError, systemCode } from "../../failure.ts";
import { findRepository } from "../../git-branch.ts";
import { addExclude, excludeFile, excludePattern } from "../../git-exclude.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/secrets.ts";
import { oneLine } from "../../text.ts";

export const pull: Handler<typeof table.pull> = async (context, { flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const { items, required, optional } = await api.call<SecretList>({ path: path`/projects/${id}/secrets` });
  const names = [...new Set([...items.map(({ name }) => name), ...required, ...optional])].sort();
  const file = resolve(context.system.cwd, flags.out);
  await ignore(file);
  await write(file, skeleton(names, required), flags);
  await context.out.result(
    { path: file, names },
    () => `Wrote ${oneLine(flags.out)} with ${names.length} names.\n`,
  );
};

/**
 * Keeps the file out of commits of its clone: it will hold secrets. No file of the repository changes.
 * @throws CliError `file`
 */
async function ignore(file: string): Promise<void> {
  const repository = await findRepository(dirname(file));
  if (repository === null) return;
  const exclude = await excludeFile(repository.gitDir);
  const path = relative(repository.folder, file).split(sep).join("/");
  try {
    await addExclude(exclude, excludePattern(path));
  } catch (error) {
    const code = systemCode(error) ?? "unknown error";
    throw new CliError("file", `${exclude} cannot be written (${code}), so git would commit the secrets.`, {
      hint: "Make the file writable, or pass --out with a path outside of the repository.",
    });
  }
}

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
