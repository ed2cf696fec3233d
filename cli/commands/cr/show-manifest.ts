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

/** The apps that a merge makes public, and the problems of the manifest after it; empty if there are none. */
export function manifestText(manifest: ChangeRequestManifest | null, paint: Paint): string {
  if (manifest === null) return "";
  const { opens } = manifest;
  const opened = opens.map((slug) => `${paint.yellow(`Merging makes the app "${oneLine(slug)}" public.`)}\n`);
  return `${opened.length === 0 ? "" : "\n"}${opened.join("")}${problemsText(manifest, paint)}`;
}

function problemsText({ path, errors }: ChangeRequestManifest, paint: Paint): string {
  if (errors.length === 0) return "";
  const problems = errors.map((error) => {
    const colour = error.severity === "error" ? paint.red : paint.yellow;
    return `  ${colour(error.severity)}  ${oneLine(describeProblem(path, error))}\n`;
  });
  return `\n${paint.bold("Manifest")}: ${oneLine(path)} would have ${tally(errors)}\n${problems.join("")}`;
}
