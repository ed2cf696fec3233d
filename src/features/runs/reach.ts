import { eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import { projects, runs, sessionSandboxes } from "../../../db/schema/index.ts";
import { DAEMON_PORT } from "../../contract/daemon.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { Daemon } from "../../sandboxes/daemon.ts";
import type { SandboxAddress } from "../../sandboxes/provider.ts";
import type { RunRow, SandboxRow } from "./row.ts";

/** A run with the address and the key of its sandbox's daemon. */
export interface ReachedRun {
  run: RunRow;
  project: ProjectRow;
  /** Null while there is no sandbox, or its address is not known yet. */
  daemon: Daemon | null;
}

/** The purpose that a sandbox's service key is sealed for, besides its project. */
export function keyPurpose(runId: string): string {
  return `sandbox key ${runId}`;
}

/** Finds a run and its sandbox by the primary key; null when the run does not exist. */
export async function reachRun(deps: Pick<Deps, "db" | "keys">, runId: string): Promise<ReachedRun | null> {
  const [row] = await runAndSandbox(deps.db).execute({ runId });
  if (!row) return null;
  const { run, project, sandbox } = row;
  return { run, project, daemon: daemonOf(deps, run, sandbox) };
}

/** The daemon of a run's sandbox; null while there is none, or its address is not known yet. */
export function daemonOf(
  deps: Pick<Deps, "keys">,
  { runId, projectId }: Pick<RunRow, "runId" | "projectId">,
  sandbox: SandboxRow | null,
): Daemon | null {
  if (!sandbox?.host || sandbox.port === null) return null;
  const serviceKey = deps.keys.open(projectId, keyPurpose(runId), sandbox.serviceKey);
  return { address: addressOf(sandbox.host, sandbox.port), serviceKey, sessionId: runId };
}

/** @returns an address as the row of a sandbox has it */
export function hostOf({ unix, hostname, port }: SandboxAddress): { host: string; port: number } {
  return unix === undefined ? { host: hostname, port } : { host: unix, port: DAEMON_PORT };
}

/** The path of a socket begins with a slash; a host name and an IP address never do. */
function addressOf(host: string, port: number): SandboxAddress {
  return host.startsWith("/") ? { unix: host } : { hostname: host, port };
}

const runAndSandbox = prepared((db: Db) =>
  db
    .select({ run: runs, project: projects, sandbox: sessionSandboxes })
    .from(runs)
    .innerJoin(projects, eq(projects.projectId, runs.projectId))
    .leftJoin(sessionSandboxes, eq(sessionSandboxes.runId, runs.runId))
    .where(eq(runs.runId, sql.placeholder("runId")))
    .prepare("run_and_sandbox"),
);
