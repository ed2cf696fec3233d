import { createHash } from "node:crypto";
import { readEntry } from "../../contract/egress/policy.ts";
import { SvcError } from "../../contract/errors.ts";
import { allowHosts } from "../../contract/manifest/allow-hosts.ts";
import { readManifest } from "../../contract/manifest/manifest.ts";
import type { AllowedHosts } from "../../contract/network.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { proposeManifest } from "../change-requests/propose-manifest.ts";

/** Digits of the hash of the hosts, in the name of the branch. */
const SHORT = 8;

/**
 * Opens a change request that adds hosts to `[network] allow` of the default branch's manifest. It is never merged here:
 * an agent may ask for a host, and a person decides.
 * @throws validation_failed, and the errors of opening a change request
 */
export async function allowInManifest(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  written: readonly string[],
): Promise<AllowedHosts> {
  const hosts = [...new Set(written.map(entryOf))];
  const [first = "", ...others] = hosts;
  let egress: AllowedHosts["egress"] = "open";
  const propose = () =>
    proposeManifest(deps, caller, project, {
      branch: `svc/allow-${createHash("sha256").update(hosts.join("\n")).digest("hex").slice(0, SHORT)}`,
      title: `Allow connections to ${first}${others.length === 0 ? "" : ` and ${others.length} more`}`,
      description: `Adds ${hosts.map((host) => `\`${host}\``).join(", ")} to \`[network] allow\` in ${project.manifestPath}: sandboxes may connect to it.`,
      edit(text) {
        const edited = allowHosts(text ?? "", hosts);
        if (edited !== null) egress = readManifest(edited).manifest?.network.mode ?? "none";
        return edited;
      },
      fault: new SvcError(
        "validation_failed",
        `svc cannot add to [network] allow of ${project.manifestPath} on the branch "${project.defaultBranch}". Edit the file by hand, and check it with: svc validate`,
      ),
    });
  // a concurrent call for the same hosts finds the change request of the first
  const change_request = await deps.mutex.run(`${project.mirrorId} network`, propose);
  return { hosts, status: change_request === null ? "unchanged" : "open", egress, change_request };
}

function entryOf(text: string): string {
  const entry = readEntry(text);
  if (entry !== null) return entry;
  throw new SvcError(
    "validation_failed",
    `${JSON.stringify(text)} must be a host such as "api.example.com", "*.example.com", "example.com:8443" or "preset:packages".`,
  );
}
