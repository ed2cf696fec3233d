import { appsShape, type ManifestApp, readApp } from "./apps.ts";
import { goodItems, parseFile } from "./file.ts";
import { problemsOf } from "./shape.ts";
import { manifestShape, readTables, type Tables } from "./tables.ts";
import { type ManifestError, tell } from "./tell.ts";
import { type ManifestTrigger, readTrigger, triggersShape } from "./triggers.ts";

export { MANIFEST_MAX_BYTES } from "./file.ts";
export type { ManifestApp, ManifestError, ManifestTrigger };

/** What a project's `svc.toml` says, with its defaults filled in (contract: Manifest). */
export interface Manifest extends Tables {
  /** Those without an error, in the file's order; no two have one slug. */
  triggers: ManifestTrigger[];
  apps: ManifestApp[];
}

/**
 * Reads a manifest. A bad entry never hides the good ones: it is reported, and counts as the value that allows least.
 * `manifest` is null only for what is not TOML at all.
 */
export function readManifest(text: string): { manifest: Manifest | null; errors: ManifestError[] } {
  const { root, error } = parseFile(text);
  if (!root) return { manifest: null, errors: [error] };
  const problems = problemsOf(manifestShape, root, []);
  return {
    manifest: {
      ...readTables(root),
      triggers: goodItems(root, "triggers", triggersShape, problems).map(({ item }) => readTrigger(item)),
      apps: goodItems(root, "apps", appsShape, problems).map(({ item }) => readApp(item)),
    },
    errors: tell(text, problems),
  };
}
