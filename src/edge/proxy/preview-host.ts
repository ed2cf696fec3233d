import { UUID } from "../../contract/id.ts";
import type { Deps } from "../../deps.ts";
import { previewSite } from "../../features/apps/site.ts";

/** A port of a session's sandbox, as in the host name of its preview. */
export interface PreviewPlace {
  sessionId: string;
  port: number;
}

export function previewOrigin(deps: Pick<Deps, "config" | "api">, { sessionId, port }: PreviewPlace): string {
  const { host, scheme } = previewSite(deps);
  return `${scheme}://p${port}-${sessionId}.${host}`;
}

/** Reads the label of an app from a Host header; null for other hosts. It has two hyphens, unlike that of a preview. */
export function readAppHost(host: string, site: string): string | null {
  const [, label = "", rest = ""] = APP_NAME.exec(host.toLowerCase()) ?? [];
  return rest !== "" && rest === site.replace(/:\d+$/, "") ? label : null;
}

const APP_NAME = /^([a-z0-9-]{1,63}--[a-z0-9-]{1,63})\.([a-z0-9.-]+)(?::\d{1,5})?$/;

const NAME = /^p([1-9]\d{0,4})-([0-9a-f-]{36})\.([a-z0-9.-]+)(?::\d{1,5})?$/;

/**
 * Reads a preview's session and port from a Host header; null for other hosts. The header's own port is ignored, since it
 * may differ behind a tunnel.
 */
export function readPreviewHost(host: string, site: string): PreviewPlace | null {
  const found = NAME.exec(host.toLowerCase());
  if (!found) return null;
  const [, port = "", sessionId = "", rest] = found;
  if (rest !== site.replace(/:\d+$/, "") || !UUID.test(sessionId) || Number(port) > 65_535) return null;
  return { sessionId, port: Number(port) };
}
