import { isPublicEntry } from "../../contract/manifest/apps.ts";
import { readManifestIn } from "../../contract/manifest/claims.ts";
import { type ManifestError, readManifest } from "../../contract/manifest/manifest.ts";
import type { ChangeRequestManifest } from "../../contract/manifest/wire.ts";
import type { Deps } from "../../deps.ts";
import type { TreeEntry } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { type Find, finderOf, lookupBy, readText } from "../manifest/tree.ts";
import { repositoryOf } from "../projects/repository.ts";
import { compareTips, requireCommits } from "./preview.ts";
import { findWithBranches, resolveTips } from "./tips.ts";

/**
 * The problems that the project's manifest would have after the merge. If the change request does not change the manifest
 * itself, reports only the problems that it adds, such as a removed file that the manifest names.
 * @throws not_found, branch_missing, repo_unreachable, merge_engine_failed
 */
export async function checkManifest(
  deps: Deps,
  project: ProjectRow,
  name: string,
): Promise<ChangeRequestManifest> {
  const [row, listing] = await findWithBranches(deps, project, name);
  const { base, head } = await resolveTips(row, listing);
  const repo = repositoryOf(deps, project);
  const { mergeBase } = await compareTips(deps, project, { base, head });
  await requireCommits(deps, repo, mergeBase === null ? [base, head] : [base, head, mergeBase]);
  const path = project.manifestPath;
  const inBase = finderOf(deps, repo, base);
  const inHead = finderOf(deps, repo, head);
  const before: Find = mergeBase === null ? async () => null : finderOf(deps, repo, mergeBase);
  const merged = mergedOf(inBase, inHead, before);

  const [ours, theirs, was] = [await inBase(path), await inHead(path), await before(path)];
  const changed = !isSame(theirs, was);
  const text = async (commit: string, entry: TreeEntry | null) =>
    entry?.type === "file" ? await readText(deps, repo, commit, entry) : null;
  const current = await text(base, ours);
  const after = changed && !isSame(ours, theirs) ? await text(head, theirs) : current;
  if (after === null)
    return { path, changed, errors: changed && was ? [removedManifest(path)] : [], opens: [] };
  const opens = row.baseRef === project.defaultBranch ? opensApps(deps, current, after) : [];
  const { errors } = await readManifestIn(after, lookupBy(merged));
  if (changed || errors.length === 0) return { path, changed, errors, opens };
  const known = await readManifestIn(after, lookupBy(inBase));
  const added = errors.filter((error) => !known.errors.some((one) => isLike(one, error)));
  return { path, changed, errors: added, opens };
}

/** The apps that are public with a manifest, and are not with the one before it. */
function opensApps({ config }: Pick<Deps, "config">, before: string | null, after: string): string[] {
  if (!config.publicApps) return [];
  const [open, opened] = [before, after].map((text) =>
    text === null ? [] : (readManifest(text).manifest?.apps ?? []).filter(isPublicEntry),
  );
  const isOpen = new Set(open?.map(({ slug }) => slug));
  return opened?.map(({ slug }) => slug).filter((slug) => !isOpen.has(slug)) ?? [];
}

/**
 * Finds the entry that a merge would leave at a path: that of the side that changed it. If both sides changed it,
 * directories are merged; the result for a file is known only to the merge, so the head's entry is used.
 */
function mergedOf(inBase: Find, inHead: Find, before: Find): Find {
  return async (path) => {
    const [ours, theirs] = [await inBase(path), await inHead(path)];
    if (isSame(ours, theirs)) return theirs;
    const was = await before(path);
    if (isSame(theirs, was)) return ours;
    return theirs ?? (isSame(ours, was) ? null : ours);
  };
}

const isSame = (a: TreeEntry | null, b: TreeEntry | null): boolean => a?.id === b?.id && a?.mode === b?.mode;

const isLike = (a: ManifestError, b: ManifestError): boolean =>
  a.path === b.path && a.message === b.message && a.severity === b.severity;

const removedManifest = (path: string): ManifestError => ({
  path: "",
  message: `This change request removes the file ${path}. Its triggers and apps stop when it is merged.`,
  line: 1,
  column: 1,
  severity: "warning",
});
