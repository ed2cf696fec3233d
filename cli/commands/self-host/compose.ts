import { existsSync } from "node:fs";
import { CliError } from "../../failure.ts";
import type { System } from "../../system.ts";
import { type Ended, type RunOptions, runProgram } from "./run-program.ts";
import type { Stack } from "./stack.ts";

/** The services of the Compose project. */
export const API_SERVICE = "api";
export const DATABASE_SERVICE = "db";
export const PROXY_SERVICE = "caddy";

/** Commands that are Compose, in the order of preference: v2 is a plugin of docker, v1 a program of its own. */
const CANDIDATES = [["docker", "compose"], ["docker-compose"]] as const;
const VERSION_MS = 20_000;

/** What was found on each PATH: Compose takes a second to print its version. */
const known = new Map<string | undefined, Promise<readonly string[] | null>>();

/** The command of Docker Compose on this machine; null if there is none. */
export async function findCompose(system: Pick<System, "env" | "stderr">): Promise<readonly string[] | null> {
  const path = system.env["PATH"];
  const found = known.get(path) ?? search(system);
  known.set(path, found);
  return found;
}

async function search(system: Pick<System, "env" | "stderr">): Promise<readonly string[] | null> {
  for (const command of CANDIDATES) {
    const { code } = await runProgram(system, [...command, "version"], { ms: VERSION_MS });
    if (code === 0) return command;
  }
  return null;
}

/**
 * Runs Docker Compose on the stack's project, such as `["ps", "-q"]`.
 * @throws CliError `self_host` if Compose is not installed
 */
export async function compose(
  system: Pick<System, "env" | "stderr">,
  stack: Stack,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  return runProgram(system, [...(await composeCommand(system, stack)), ...args], {
    cwd: stack.dir,
    ...options,
  });
}

/** The command line up to Compose's own verb. @throws CliError `self_host` if Compose is not installed */
export async function composeCommand(
  system: Pick<System, "env" | "stderr">,
  stack: Stack,
): Promise<readonly string[]> {
  const command = await findCompose(system);
  if (command === null) {
    throw new CliError("self_host", "Docker Compose is not installed.", { hint: COMPOSE_MISSING });
  }
  const files = [stack.composeFile, ...(existsSync(stack.overrideFile) ? [stack.overrideFile] : [])];
  return [...command, "--project-name", stack.project, ...files.flatMap((file) => ["--file", file])];
}

export const COMPOSE_MISSING =
  "Install it: https://docs.docker.com/compose/install (on Debian: apt install docker-compose). Or run `svc self-host start --native`, which needs no Docker.";
