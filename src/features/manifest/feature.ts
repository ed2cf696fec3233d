import type { Db } from "../../../db/client.ts";
import type { Manifest, ManifestError } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectChange } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

/** The manifest of a project's default branch, as it is at a commit that has not been handed over before. */
export interface ManifestChange {
  project: ProjectRow;
  commit: string;
  /** Its good entries. */
  manifest: Manifest;
  errors: readonly ManifestError[];
}

/**
 * A part of svc that a manifest drives. It is asked outside of any transaction, where it may ask git, and answers with
 * what writes its tables, in the transaction that also records the commit: all features follow it, or none. What it
 * returns is published. A look is repeated at will: the same change applied again must change nothing.
 */
export type ManifestFeature = (
  deps: Deps,
  change: ManifestChange,
) => Promise<(tx: Db, now: Date) => Promise<ProjectChange[]>>;
