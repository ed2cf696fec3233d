import { test } from "bun:test";
import { appendFileSync } from "node:fs";

/**
 * `test` for what only works where something is present: a real Postgres, an ssh server, Docker, a browser.
 * Without it the tests are skipped out loud: the test command lists them under `name`, so give a name that a reader
 * can install ("an ssh server (sshd)").
 */
export function needs(name: string, present: boolean): typeof test | typeof test.skip {
  if (present) return test;
  return new Proxy(test.skip, {
    apply(skip, self, args) {
      record(name, String(args[0]));
      return Reflect.apply(skip, self, args);
    },
  });
}

/** One line of JSON for each skipped test, in the file that the test command names. */
function record(name: string, title: string): void {
  const file = process.env["SVC_TEST_SKIPS"];
  if (file) appendFileSync(file, `${JSON.stringify({ name, title })}\n`);
}
