import { createHash } from "node:crypto";
import type { Deps } from "../../deps.ts";

/** Characters of one label of a domain name (RFC 1035, 2.3.4). */
const LABEL_MAX = 63;
/** Characters of the hash that replaces the end of a long project slug. */
const HASH_LENGTH = 8;
/** Characters of the id of a change request in the label of a preview. */
const ID_LENGTH = 6;

/** The domain of previews and apps: `host[:port]`, and the scheme for browsers (contract: Preview). */
export function previewSite({ config, api }: Pick<Deps, "config" | "api">): { host: string; scheme: string } {
  if (config.previewHost === null) return { host: `localhost:${api().port}`, scheme: "http" };
  return { host: config.previewHost, scheme: new URL(config.publicUrl).protocol.replace(":", "") };
}

/**
 * The first label of an app's host name: `<slug>--<project slug>`. If that is too long for a label, a hash replaces the
 * end of the project's slug.
 */
export function labelOf(slug: string, projectSlug: string): string {
  const label = `${slug}--${projectSlug}`;
  if (label.length <= LABEL_MAX) return label;
  const hash = createHash("sha256").update(projectSlug).digest("hex").slice(0, HASH_LENGTH);
  const kept = projectSlug.slice(0, LABEL_MAX - slug.length - "--".length - HASH_LENGTH - 1);
  return `${slug}--${kept.replace(/-+$/, "")}-${hash}`;
}

/** The first label of a preview's host name. The part of the id keeps it apart from an app of any name. */
export function previewLabelOf(
  slug: string,
  { crId, number }: { crId: string; number: number },
  projectSlug: string,
): string {
  return labelOf(`${slug}-cr${number}-${crId.slice(0, ID_LENGTH)}`, projectSlug);
}

export function originOf(deps: Pick<Deps, "config" | "api">, label: string): string {
  const { host, scheme } = previewSite(deps);
  return `${scheme}://${label}.${host}`;
}
