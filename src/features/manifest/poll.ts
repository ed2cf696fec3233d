import { and, eq } from "drizzle-orm";
import { projectManifests, projects } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { ManifestError, readManifest } from "../../contract/manifest/manifest.ts";
import { VERSION } from "../../contract/version.ts";
import type { Deps } from "../../deps.ts";
import { type ProjectChange, publish } from "../../events/publish.ts";
import type { Branches } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";
import type { Claim } from "./claim.ts";
import type { ManifestFeature } from "./feature.ts";
import { readManifestAt } from "./read-at.ts";
import { tipOf } from "./tip.ts";

/** The interval for a repository on a git host, which does not notify svc of pushes. */
const POLL_S = 60;
/** The interval for a repository that svc hosts, in case a server crashed before it announced a push. */
const HOSTED_POLL_S = 600;
/** The interval doubles after each failure, up to this one. */
const BACKED_OFF_MAX_S = 3600;
/** Doublings that reach `BACKED_OFF_MAX_S`. */
const DOUBLINGS_MAX = 6;

/** Receives the branches that a poll has listed. */
export type OnListing = (deps: Deps, project: ProjectRow, listing: Branches) => Promise<void>;

/** The manifest at the tip of a default branch. */
type Snapshot = { commit: string } & ReturnType<typeof readManifest>;

/**
 * Polls the default branch of a project, and applies its manifest to the features if the commit is new, or another version
 * of svc read the last one. A file that is not TOML is recorded as an error and leaves the features unchanged. A failure
 * is recorded too, and retried with backoff.
 */
export async function pollBranch(
  deps: Deps,
  features: readonly ManifestFeature[],
  claim: Claim,
  onListing: OnListing,
): Promise<void> {
  const [project] = await deps.db.select().from(projects).where(eq(projects.projectId, claim.projectId));
  if (!project) return;
  try {
    const listing = await deps.git.listBranches(repositoryOf(deps, project), LISTING_MS);
    await onListing(deps, project, listing).catch((error: unknown) => {
      deps.log.warn({ project: project.projectId, err: error }, "cannot follow the branches of a project");
    });
    const seen = await readTip(deps, project, claim, listing);
    const { manifest } = seen ?? {};
    const changes =
      seen && manifest
        ? await Promise.all(features.map((feature) => feature(deps, { project, ...seen, manifest })))
        : [];
    await record(deps, claim, project, {
      ...(seen && { commit: seen.commit, errors: seen.errors, reader: VERSION }),
      failure: null,
      apply: changes,
    });
  } catch (error) {
    const { projectId } = project;
    deps.log.info({ project: projectId, err: error }, "cannot read the manifest of a default branch");
    await record(deps, claim, project, { failure: messageOf(error), apply: [] });
  }
}

/** Null: the branch has not changed. */
async function readTip(
  deps: Deps,
  project: ProjectRow,
  claim: Claim,
  listing: Branches,
): Promise<Snapshot | null> {
  const commit = tipOf(project, listing);
  if (commit === claim.commit && claim.reader === VERSION) return null;
  const read = await readManifestAt(deps, project, commit);
  if (!read) throw new SvcError("branch_missing", "The default branch moved while svc read it. Try again.");
  return { commit, ...read };
}

interface Outcome {
  commit?: string;
  errors?: ManifestError[];
  reader?: string;
  failure: string | null;
  apply: Awaited<ReturnType<ManifestFeature>>[];
}

/** Writes nothing if a later poll has started. A poll that was scheduled meanwhile stays due. */
async function record(
  deps: Deps,
  claim: Claim,
  project: ProjectRow,
  { apply, ...outcome }: Outcome,
): Promise<void> {
  const { projectId } = project;
  const isLatest = and(eq(projectManifests.projectId, projectId), eq(projectManifests.look, claim.look));
  const failures = outcome.failure === null ? 0 : claim.failures + 1;
  await deps.db.transaction(async (tx) => {
    const now = await deps.databaseTime(tx);
    const next = new Date(now.getTime() + 1000 * intervalOf(project, failures));
    const [before] = await tx.select().from(projectManifests).where(isLatest).for("update");
    if (!before) return;
    const isScheduled = before.nextLookAt.getTime() < claim.until.getTime();
    await tx
      .update(projectManifests)
      .set({ ...outcome, failures, lookedAt: now, ...(!isScheduled && { nextLookAt: next }) })
      .where(isLatest);
    const news: ProjectChange[] = [];
    for (const write of apply) news.push(...(await write(tx, now)));
    const hasChanged =
      outcome.failure !== before.failure ||
      (outcome.errors !== undefined && JSON.stringify(outcome.errors) !== JSON.stringify(before.errors));
    if (hasChanged) news.push({ type: "project", id: projectId, action: "changed" });
    await publish(tx, projectId, ...news);
  });
}

const intervalOf = ({ repoUrl }: ProjectRow, failures: number): number =>
  Math.min(
    (repoUrl === null ? HOSTED_POLL_S : POLL_S) * 2 ** Math.min(failures, DOUBLINGS_MAX),
    BACKED_OFF_MAX_S,
  );

function messageOf(error: unknown): string {
  if (error instanceof SvcError) return error.message;
  return "svc had an internal error. See the server's log for the cause.";
}
