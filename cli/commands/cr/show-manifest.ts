import { tally } from "../../../src/contract/manifest/tally.ts";
import type { ChangeRequestManifest } from "../../../src/contract/manifest/wire.ts";
import { CliError } from "../../failure.ts";
import type { Paint } from "../../output.ts";
import { oneLine } from "../../text.ts";
import { describeProblem } from "../validate/show.ts";
import type { Found } from "./reference.ts";

/** The manifest after a merge. Null if it is unknown: the merge preview has the reason. */
export async function manifestOf(found: Found): Promise<ChangeRequestManifest | null> {
  try {
    return await found.api.call<ChangeRequestManifest>({ path: `${found.path}/manifest`, slow: true });
  } catch (error) {
    if (error instanceof CliError) return null;
    throw error;
  }
}

/** Empty if the manifest would have no problems. */
export function manifestText(manifest: ChangeRequestManifest | null, paint: Paint): string {
  if (manifest === null || manifest.errors.length === 0) return "";
  const { path, errors } = manifest;
  const problems = errors.map((error) => {
    const colour = error.severity === "error" ? paint.red : paint.yellow;
    return `  ${colour(error.severity)}  ${oneLine(describeProblem(path, error))}\n`;
  });
  return `\n${paint.bold("Manifest")}: ${oneLine(path)} would have ${tally(errors)}\n${problems.join("")}`;
}
