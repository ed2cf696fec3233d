import { UUID } from "../../contract/id.ts";
import type { Deps } from "../../deps.ts";
import { previewSite } from "../../features/apps/site.ts";

/** A port of a session's sandbox, as the name of a preview says it. */
export interface PreviewPlace {
  sessionId: string;
  port: number;
}

export function previewOrigin(deps: Pick<Deps, "config" | "api">, { sessionId, port }: PreviewPlace): string {
  const { host, scheme } = previewSite(deps);
  return `${scheme}://p${port}-${sessionId}.${host}`;
}

/** The same of an app's name, of which the first label is told: it has two hyphens, which no preview's has. */
export function readAppHost(host: string, site: string): string | null {
  const [, label = "", rest = ""] = APP_NAME.exec(host.toLowerCase()) ?? [];
  return rest !== "" && rest === site.replace(/:\d+$/, "") ? label : null;
}

const APP_NAME = /^([a-z0-9-]{1,63}--[a-z0-9-]{1,63})\.([a-z0-9.-]+)(?::\d{1,5})?$/;

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
