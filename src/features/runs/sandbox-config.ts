import type { EgressPolicy } from "../../contract/egress/policy.ts";
import { SvcError } from "../../contract/errors.ts";
import type { DaemonSetup } from "../../contract/setup.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { SandboxLimits } from "../../sandboxes/provider.ts";
import { PATIENT_LISTING_MS } from "../projects/fetch.ts";
import { readManifestOf } from "../projects/policy.ts";
import { repositoryOf } from "../projects/repository.ts";
import { type ContainerConfig, NO_CONTAINER, readContainer } from "./container.ts";

const GIB = 1024 ** 3;
/** The limits that a project's manifest may set, and the default of each. */
const CPUS = { min: 0.25, max: 16, fallback: 2 };
const MEMORY = { min: 0.5 * GIB, max: 64 * GIB, fallback: 4 * GIB };
const DISK = { min: GIB, max: 200 * GIB, fallback: 20 * GIB };
/** The limit of processes, against fork bombs. A build of a large project runs some hundreds. */
const PROCESSES = 2_048;

/** What a project says of its sandboxes. */
export interface SandboxConfig extends Omit<ContainerConfig, "setup"> {
  limits: SandboxLimits;
  /** What they may connect to, before the limit of the server. */
  egress: EgressPolicy;
  /** The agent of sessions that do not choose one. */
  runtime: string;
  /** The command that prepares the workspaces of sessions; null: none. */
  setup: Omit<DaemonSetup, "isKept"> | null;
  /** Images of the services beside the sandboxes of sessions and checks. */
  services: readonly string[];
  /** The commit that all this is from; null: the default branch does not exist. */
  tip: string | null;
}

/**
 * The limits, the image, the network policy and the agent of the project's sandboxes: `[sandbox]` and `[network]` of the manifest, and the
 * Dockerfile or devcontainer.json, all from the default branch, since only merged changes take effect.
 */
export async function readSandboxConfig(deps: Deps, project: ProjectRow): Promise<SandboxConfig> {
  const repo = repositoryOf(deps, project);
  const listing = await deps.git.listBranches(repo, PATIENT_LISTING_MS);
  const tip = listing.tips.get(project.defaultBranch);
  // the first copy of a large repository takes minutes, for which a start waits
  const isFetched = tip !== undefined && (await deps.git.ensureCommits(repo, [tip]));
  const manifest = await readManifestOf(deps, project, listing);
  if (!manifest) {
    const sentence = `${project.manifestPath} on the branch ${project.defaultBranch} is not valid. Fix it, then restart the session.`;
    throw new SvcError("validation_failed", sentence);
  }
  const { sandbox, network } = manifest;
  const limits = {
    cpus: clamp(sandbox.cpu, CPUS),
    memoryBytes: Math.round(clamp(sandbox.memory && sandbox.memory * GIB, MEMORY)),
    diskBytes: Math.round(clamp(sandbox.disk && sandbox.disk * GIB, DISK)),
    processes: PROCESSES,
  };
  const container = isFetched ? await readContainer(deps, repo, tip, sandbox) : NO_CONTAINER;
  const { runtime, setupMinutes, services } = sandbox;
  const command = sandbox.setup ?? container.setup;
  const setup = command === null ? null : { command, timeoutMs: setupMinutes * 60_000 };
  return { ...container, limits, egress: network, runtime, setup, services, tip: tip ?? null };
}

function clamp(wanted: number | null, { min, max, fallback }: typeof CPUS): number {
  return wanted === null ? fallback : Math.min(Math.max(wanted, min), max);
}
