import { appsShape, type ManifestApp, readApp } from "./apps.ts";
import { checksList, type ManifestCheck, readOwnCheck } from "./checks.ts";
import { connectorsShape, type ManifestConnector, readConnector } from "./connectors.ts";
import { parseFile, validItems } from "./file.ts";
import { type ManifestError, reportProblems } from "./report.ts";
import { problemsOf } from "./shape.ts";
import { manifestShape, readTables, type Tables } from "./tables.ts";
import { type ManifestTrigger, readTrigger, triggersShape } from "./triggers.ts";

export { MANIFEST_MAX_BYTES } from "./file.ts";
export type { ManifestApp, ManifestCheck, ManifestConnector, ManifestError, ManifestTrigger };

/** A project's `svc.toml` with its defaults (contract: Manifest). */
export interface Manifest extends Tables {
  /** Those without an error, in the order of the file, with unique slugs. */
  triggers: ManifestTrigger[];
  apps: ManifestApp[];
  connectors: ManifestConnector[];
  /** The checks that svc runs itself, with unique names. */
  ownChecks: ManifestCheck[];
}

/**
 * Reads a manifest. An invalid entry is reported, does not affect the valid ones, and counts as the most restrictive value.
 * `manifest` is null only if the file is not TOML or too large.
 */
export function readManifest(text: string): { manifest: Manifest | null; errors: ManifestError[] } {
  const { root, error } = parseFile(text);
  if (!root) return { manifest: null, errors: [error] };
  const problems = problemsOf(manifestShape, root, []);
  return {
    manifest: {
      ...readTables(root),
      triggers: validItems(root, "triggers", triggersShape, problems).map(({ item }) => readTrigger(item)),
      apps: validItems(root, "apps", appsShape, problems).map(({ item }) => readApp(item)),
      connectors: validItems(root, "connectors", connectorsShape, problems).map(({ item }) =>
        readConnector(item),
      ),
      ownChecks: validItems(root, "checks", checksList, problems).flatMap(({ item }) => readOwnCheck(item)),
    },
    errors: reportProblems(text, problems),
  };
}
