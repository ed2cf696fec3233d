import { SvcError } from "../../contract/errors.ts";
import type { Manifest } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import type { Repository } from "../../git/git.ts";
import { streamOf } from "../../http/stream.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { ImageBuild, SandboxLimits } from "../../sandboxes/provider.ts";
import { fetchCommits, LISTING_MS } from "../projects/fetch.ts";
import { readManifestOf } from "../projects/policy.ts";
import { repositoryOf } from "../projects/repository.ts";

const GIB = 1024 ** 3;
/** What a project's manifest may ask for, and what a sandbox has when it asks for nothing. */
const CPUS = { min: 0.25, max: 16, usual: 2 };
const MEMORY = { min: 0.5 * GIB, max: 64 * GIB, usual: 4 * GIB };
const DISK = { min: GIB, max: 200 * GIB, usual: 20 * GIB };
/** A build of a large project runs some hundreds; a fork bomb stops here. */
const PROCESSES = 2_048;
/** Where a project's Dockerfile is when its manifest says nothing (contract: Manifest). */
const DOCKERFILE = ".svc/Dockerfile";

/**
 * What the project says about its sandboxes: `[sandbox]` of the manifest and the Dockerfile, both of the default branch,
 * since only what is merged counts.
 */
export async function buildOf(
  deps: Deps,
  project: ProjectRow,
): Promise<{ limits: SandboxLimits; build: ImageBuild | null }> {
  const repo = repositoryOf(deps, project);
  const listing = await deps.git.listBranches(repo, LISTING_MS);
  const manifest = await readManifestOf(deps, project, listing);
  if (!manifest) {
    const sentence = `${project.manifestPath} on the branch ${project.defaultBranch} cannot be read. Mend it and start the session again.`;
    throw new SvcError("validation_failed", sentence);
  }
  const { sandbox } = manifest;
  const limits = {
    cpus: clamp(sandbox.cpu, CPUS),
    memoryBytes: Math.round(clamp(sandbox.memory && sandbox.memory * GIB, MEMORY)),
    diskBytes: Math.round(clamp(sandbox.disk && sandbox.disk * GIB, DISK)),
    processes: PROCESSES,
  };
  const tip = listing.tips.get(project.defaultBranch);
  return { limits, build: tip === undefined ? null : await imageOf(deps, repo, tip, sandbox) };
}

function clamp(wanted: number | null, { min, max, usual }: typeof CPUS): number {
  return wanted === null ? usual : Math.min(Math.max(wanted, min), max);
}

/** @throws validation_failed when the manifest names a Dockerfile or a context that is not there */
async function imageOf(
  deps: Deps,
  repo: Repository,
  commit: string,
  sandbox: Manifest["sandbox"],
): Promise<ImageBuild | null> {
  if (!(await fetchCommits(deps, repo, [commit]))) return null;
  const root =
    sandbox.context === "." ? { id: commit } : await directory(deps, repo, commit, sandbox.context);
  const path = sandbox.dockerfile ?? DOCKERFILE;
  const file = await deps.git.findEntry(repo, commit, Buffer.from(path));
  if (file?.type !== "file") {
    if (sandbox.dockerfile === null) return null;
    throw missing(path);
  }
  const prefix = sandbox.context === "." ? "" : `${sandbox.context}/`;
  if (!path.startsWith(prefix)) {
    const sentence = `The Dockerfile "${path}" of svc.toml has to be below its context "${sandbox.context}".`;
    throw new SvcError("validation_failed", sentence);
  }
  return {
    dockerfile: path.slice(prefix.length),
    hash: `${root.id} ${path.slice(prefix.length)}`,
    context: () =>
      streamOf((onBytes, signal) => deps.git.archive(repo, { commit, tree: root.id, onBytes, signal })),
  };
}

async function directory(
  deps: Deps,
  repo: Repository,
  commit: string,
  path: string,
): Promise<{ id: string }> {
  const entry = await deps.git.findEntry(repo, commit, Buffer.from(path));
  if (entry?.type !== "directory") throw missing(path);
  return entry;
}

function missing(path: string): SvcError {
  return new SvcError(
    "validation_failed",
    `svc.toml names "${path}", which the default branch does not have.`,
  );
}
