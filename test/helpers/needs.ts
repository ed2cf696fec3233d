import { test } from "bun:test";
import { appendFileSync } from "node:fs";
import { format } from "node:util";

/**
 * `test` for what only works where something is present: a real Postgres, an ssh server, Docker, a browser.
 * Without it the tests are skipped out loud: the test command lists them under `name`, so give a name that a reader
 * can install ("an ssh server (sshd)").
 */
export function needs(name: string, present: boolean): typeof test | typeof test.skip {
  if (present) return test;
  const skipped = (title: string, ...rest: unknown[]) => {
    record(name, title);
    return Reflect.apply(test.skip, undefined, [title, ...rest]);
  };
  return new Proxy(test.skip, {
    apply: (_skip, _self, [title, ...rest]) => skipped(String(title), ...rest),
    get(skip, key) {
      if (key !== "each") return Reflect.get(skip, key);
      return (rows: readonly unknown[]) =>
        (title: string, ...rest: unknown[]) => {
          for (const row of rows) skipped(format(title, ...[row].flat()), ...rest);
        };
    },
  });
}

/** Whether this machine has a program, and it exits with 0. */
export function succeeds(program: string, ...args: readonly string[]): boolean {
  return Bun.which(program) !== null && Bun.spawnSync([program, ...args]).success;
}

/** One line of JSON for each skipped test, in the file that the test command names. */
function record(name: string, title: string): void {
  const file = process.env["SVC_TEST_SKIPS"];
  if (file) appendFileSync(file, `${JSON.stringify({ name, title })}\n`);
}
