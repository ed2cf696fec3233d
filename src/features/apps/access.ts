import { isPublicEntry } from "../../contract/manifest/apps.ts";
import type { Deps } from "../../deps.ts";
import type { AppRow } from "./rows.ts";

/**
 * Whether everybody may open an app. The manifest of the default branch decides at every moment, not the deployed commit:
 * a rollback does not open an app again.
 */
export function isPublic(
  { config }: Pick<Deps, "config">,
  { presence, entry }: Pick<AppRow, "presence" | "entry">,
): boolean {
  return config.publicApps && presence === "enabled" && isPublicEntry(entry);
}
