import { UUID } from "../contract/id.ts";
import type { Deps } from "../deps.ts";

/** A port of a session's sandbox, as the name of a preview says it. */
export interface PreviewPlace {
  sessionId: string;
  port: number;
}

/** Where previews are: `host[:port]`, and whether the browser's way there is TLS (contract: Preview). */
export function previewSite({ config, api }: Pick<Deps, "config" | "api">): { host: string; scheme: string } {
  if (config.previewHost === null) return { host: `localhost:${api().port}`, scheme: "http" };
  return { host: config.previewHost, scheme: new URL(config.publicUrl).protocol.replace(":", "") };
}

export function previewOrigin(deps: Pick<Deps, "config" | "api">, { sessionId, port }: PreviewPlace): string {
  const { host, scheme } = previewSite(deps);
  return `${scheme}://p${port}-${sessionId}.${host}`;
}

const NAME = /^p([1-9]\d{0,4})-([0-9a-f-]{36})\.([a-z0-9.-]+)(?::\d{1,5})?$/;

/**
 * Reads the name of a preview, from a Host header; null for any other name, which is the API's. Its port does not
 * matter: it may be another where the server is reached through a tunnel.
 */
export function readPreviewHost(host: string, site: string): PreviewPlace | null {
  const found = NAME.exec(host.toLowerCase());
  if (!found) return null;
  const [, port = "", sessionId = "", rest] = found;
  if (rest !== site.replace(/:\d+$/, "") || !UUID.test(sessionId) || Number(port) > 65_535) return null;
  return { sessionId, port: Number(port) };
}
