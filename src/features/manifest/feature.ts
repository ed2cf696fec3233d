import type { Db } from "../../../db/client.ts";
import type { Manifest, ManifestError } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectChange } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

/** The manifest of a project's default branch at a new commit. */
export interface ManifestChange {
  project: ProjectRow;
  commit: string;
  /** Its valid entries. */
  manifest: Manifest;
  errors: readonly ManifestError[];
}

/**
 * A part of svc that a manifest configures. It is called outside of a transaction, where it may read from git. It returns
 * a function that writes its tables in the transaction that also records the commit, so that all features apply the
 * change or none, and that returns the events to announce. Must be idempotent.
 */
export type ManifestFeature = (
  deps: Deps,
  change: ManifestChange,
) => Promise<(tx: Db, now: Date) => Promise<ProjectChange[]>>;
