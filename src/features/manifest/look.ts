import { and, eq } from "drizzle-orm";
import { projectManifests, projects } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { type ManifestError, readManifest } from "../../contract/manifest/manifest.ts";
import { VERSION } from "../../contract/version.ts";
import type { Deps } from "../../deps.ts";
import { type ProjectChange, publish } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { fetchCommits, LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";
import type { Claim } from "./claim.ts";
import type { ManifestFeature } from "./feature.ts";
import { finderOf, readText } from "./tree.ts";

/** A repository on a git host is asked this often: nobody tells svc of a push that does not come by its gateway. */
const POLL_S = 60;
/** Of one that svc hosts every push is known; this finds the one whose server died before it could say so. */
const HOSTED_POLL_S = 600;
/** A repository that does not answer is asked half as often after each time, and at least this often. */
const BACKED_OFF_MAX_S = 3600;
/** Doublings that reach `BACKED_OFF_MAX_S`. */
const DOUBLINGS_MAX = 6;

/** What stood at the tip of a default branch. */
type Seen = { commit: string } & ReturnType<typeof readManifest>;

/**
 * Looks at one project's default branch, and hands its manifest to the features where its commit is another than the
 * last, or another svc read that. A file that is no manifest at all is written down and leaves all features as they were.
 * What fails is written down too, and tried again later and later.
 */
export async function lookAt(deps: Deps, features: readonly ManifestFeature[], claim: Claim): Promise<void> {
  const [project] = await deps.db.select().from(projects).where(eq(projects.projectId, claim.projectId));
  if (!project) return;
  try {
    const seen = await see(deps, project, claim);
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
    deps.log.info({ project: projectId, err: error }, "the manifest of a default branch could not be read");
    await record(deps, claim, project, { failure: wordsOf(error), apply: [] });
  }
}

/** Null: it stands where it stood. */
async function see(deps: Deps, project: ProjectRow, claim: Claim): Promise<Seen | null> {
  const repo = repositoryOf(deps, project);
  const { tips } = await deps.git.listBranches(repo, LISTING_MS);
  const commit = tips.get(project.defaultBranch);
  if (commit === undefined) {
    const sentence = `The repository has no branch "${project.defaultBranch}", the project's default branch.`;
    throw new SvcError("branch_missing", sentence);
  }
  if (commit === claim.commit && claim.reader === VERSION) return null;
  if (!(await fetchCommits(deps, repo, [commit])))
    throw new SvcError("branch_missing", "The default branch moved while svc looked at it.");
  const entry = await finderOf(deps, repo, commit)(project.manifestPath);
  if (entry?.type !== "file") return { commit, manifest: readManifest("").manifest, errors: [] };
  return { commit, ...readManifest(await readText(deps, repo, commit, entry)) };
}

interface Outcome {
  commit?: string;
  errors?: ManifestError[];
  reader?: string;
  failure: string | null;
  apply: Awaited<ReturnType<ManifestFeature>>[];
}

/** Who was overtaken by a later look writes nothing. Whoever asked meanwhile gets a look of its own. */
async function record(
  deps: Deps,
  claim: Claim,
  project: ProjectRow,
  { apply, ...outcome }: Outcome,
): Promise<void> {
  const { projectId } = project;
  const isMine = and(eq(projectManifests.projectId, projectId), eq(projectManifests.look, claim.look));
  const failures = outcome.failure === null ? 0 : claim.failures + 1;
  await deps.db.transaction(async (tx) => {
    const now = await deps.databaseTime(tx);
    const next = new Date(now.getTime() + 1000 * pauseOf(project, failures));
    const [before] = await tx.select().from(projectManifests).where(isMine).for("update");
    if (!before) return;
    const isAsked = before.nextLookAt.getTime() < claim.until.getTime();
    await tx
      .update(projectManifests)
      .set({ ...outcome, failures, lookedAt: now, ...(!isAsked && { nextLookAt: next }) })
      .where(isMine);
    const changes: ProjectChange[] = [];
    for (const write of apply) changes.push(...(await write(tx, now)));
    const isOther =
      outcome.failure !== before.failure ||
      (outcome.errors !== undefined && JSON.stringify(outcome.errors) !== JSON.stringify(before.errors));
    if (isOther) changes.push({ type: "project", id: projectId, action: "changed" });
    await publish(tx, projectId, ...changes);
  });
}

const pauseOf = ({ repoUrl }: ProjectRow, failures: number): number =>
  Math.min(
    (repoUrl === null ? HOSTED_POLL_S : POLL_S) * 2 ** Math.min(failures, DOUBLINGS_MAX),
    BACKED_OFF_MAX_S,
  );

function wordsOf(error: unknown): string {
  if (error instanceof SvcError) return error.message;
  return "Something went wrong inside svc. The server's log has the cause.";
}
