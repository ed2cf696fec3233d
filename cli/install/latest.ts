import { isVersion, LATEST_FILE } from "../../src/contract/release.ts";
import { CliError } from "../failure.ts";
import type { System } from "../system.ts";
import { download } from "./download.ts";

/** A version and a newline. */
const LATEST_MAX_BYTES = 256;
const LATEST_MS = 30_000;

/**
 * The newest version of a server. It is not signed, so it only says what to ask for.
 * @throws CliError `update_failed`, and as `download`
 */
export async function latestVersion(
  system: Pick<System, "fetch">,
  source: string,
  totalMs = LATEST_MS,
): Promise<string> {
  const url = `${source}/releases/${LATEST_FILE}`;
  const bytes = await download(system, url, {
    maxBytes: LATEST_MAX_BYTES,
    totalMs,
    missing: "This server offers no release. Ask its operator: docs/install.md#offer-it-from-your-server.",
  });
  const version = new TextDecoder().decode(bytes).trim();
  if (isVersion(version)) return version;
  throw new CliError("update_failed", `${url} is not a version.`, {
    hint: "Check that the address is still that of an svc server.",
  });
}
