import { type Binary, TEST_PROGRAMS } from "../binaries.ts";

/**
 * Stands in for the programs of a sandbox: tests give its copies their names. It is not in `scripts/binaries.ts`, which is an
 * input of every binary.
 */
const SANDBOX: Binary & { variable: string } = {
  variable: "SVC_TEST_SANDBOX",
  name: "svc-test-sandbox",
  entry: "test/helpers/sandbox-agent.ts",
  inputs: ["package.json", "bun.lock", "tsconfig.json", "patches", "src", "test/helpers"],
  flags: [
    ...["--compile", "--bytecode", "--format=esm", "--external=cpu-features"],
    ...["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig"],
  ],
};

/** The programs that the test command builds for tests, each with the environment variable by which they find it. */
export const PROGRAMS: readonly (Binary & { variable: string })[] = [...TEST_PROGRAMS, SANDBOX];
