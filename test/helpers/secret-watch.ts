import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { commandOf, environmentOf, processIds } from "./processes.ts";

export interface SecretWatch {
  /** Where a secret was seen that others could have read it. */
  found: Set<string>;
  /** The programs that had a secret in an environment which only the server's user can read. */
  holders: Set<string>;
  stop(): Promise<void>;
}

/**
 * Looks for secrets in the command lines and environments of all processes, and at who may read the files in
 * `folder`, again and again until it is stopped.
 * @param scope what the environments of all processes have that may be given a secret later: others are read once
 */
export function watchForSecrets(secrets: readonly string[], folder: string, scope: string): SecretWatch {
  const found = new Set<string>();
  const holders = new Set<string>();
  const isIn = (text: string) => secrets.some((secret) => text.includes(secret));
  let stopped = false;
  const ended = watch();
  return {
    found,
    holders,
    async stop() {
      stopped = true;
      await ended;
    },
  };

  async function watch(): Promise<void> {
    const known = new Set<string>();
    // they do not change, or are of other tests, and reading them each time takes most of the time
    const old = new Set<number>();
    for (; !stopped; await Bun.sleep(10)) {
      const isFirst = old.size === 0;
      for (const pid of processIds()) {
        if (old.has(pid)) continue;
        if (isFirst) old.add(pid);
        const command = commandOf(pid);
        // without a command line it is a kernel thread, or has not started
        if (command === "" || known.has(`${pid} ${command}`)) continue;
        known.add(`${pid} ${command}`);
        const environment = environmentOf(pid);
        look(pid, command, environment);
        if (environment.length > 1 && !environment.some((variable) => variable.includes(scope))) old.add(pid);
      }
      for (const name of list(folder)) {
        const file = tryStat(join(folder, name));
        if (file?.isFile() && (file.mode & 0o077) !== 0) found.add(`a file that others can read: ${name}`);
      }
    }
  }

  function look(pid: number, command: string, environment: readonly string[]): void {
    const name = command.slice(0, 20);
    if (isIn(command)) found.add(`the command line of ${name}`);
    if (!environment.some(isIn)) return;
    // it has called exec in between: the next round sees the new program
    if (commandOf(pid) !== command) return;
    holders.add(command.split(" ")[0] ?? "");
    const file = tryStat(`/proc/${pid}/environ`);
    if (file && ((file.mode & 0o777) !== 0o400 || file.uid !== process.getuid?.()))
      found.add(`an environment that others can read: ${name}`);
  }
}

function tryStat(path: string) {
  return statSync(path, { throwIfNoEntry: false });
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
