import type { Deps } from "../../deps.ts";

/** The public URL, without a trailing slash; a port that the system chooses is known once the server listens. */
export function publicUrl({ config, api }: Pick<Deps, "config" | "api">): string {
  const url = new URL(config.publicUrl);
  if (url.port === "0") url.port = String(api().port);
  return url.href.replace(/\/$/, "");
}
