import type { Deps } from "../../deps.ts";

/** Where people reach the server, without a trailing slash; a port that the system chose is known once it listens. */
export function publicUrl({ config, api }: Pick<Deps, "config" | "api">): string {
  const url = new URL(config.publicUrl);
  if (url.port === "0") url.port = String(api().port);
  return url.href.replace(/\/$/, "");
}
