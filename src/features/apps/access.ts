import { isPublicEntry } from "../../contract/manifest/apps.ts";
import type { Deps } from "../../deps.ts";
import type { AppRow } from "./rows.ts";

/**
 * Whether everybody may open an app. The manifest of the default branch decides at every moment, not the deployed commit:
 * a rollback does not open an app again. A preview is never public: its entry is that of a change request.
 */
export function isPublic(
  { config }: Pick<Deps, "config">,
  { crId, presence, entry }: Pick<AppRow, "crId" | "presence" | "entry">,
): boolean {
  return config.publicApps && crId === null && presence === "enabled" && isPublicEntry(entry);
}
