import { configPath, readConfig } from "./config.ts";
import { CliError, usage } from "./failure.ts";
import { splitWords } from "./split-words.ts";
import type { System } from "./system.ts";

/**
 * The line that an alias stands for; null if its first word is none. `$1` to `$9` are the words after the alias, each as one word;
 * those that it does not name follow at the end. An alias does not stand for another one.
 * @throws CliError `usage` if a word is missing.
 */
export async function expandAlias(system: System, argv: readonly string[]): Promise<string[] | null> {
  const [name = "", ...given] = argv;
  // a damaged file is reported by the commands that need it
  const config = await readConfig(configPath(system)).catch((error: unknown) => {
    if (error instanceof CliError) return null;
    throw error;
  });
  const aliases = config?.aliases ?? {};
  const expansion = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
  if (expansion === undefined) return null;
  const used = new Set<number>();
  const words = splitWords(expansion).map((word) =>
    word.replace(/\$([1-9])/g, (_, digit: string) => {
      const value = given[Number(digit) - 1];
      if (value === undefined) throw usage(`The alias ${name} needs $${digit}: ${expansion}`);
      used.add(Number(digit) - 1);
      return value;
    }),
  );
  return [...words, ...given.filter((_, at) => !used.has(at))];
}
