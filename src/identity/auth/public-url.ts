import type { Config } from "../../config.ts";

/** The dependencies of an address that people open. */
export interface Addressed {
  config: Pick<Config, "publicUrl">;
  /** Its port, once the server listens. */
  api: () => { port: number };
}

/** The public URL, without a trailing slash; a port that the system chooses is known once the server listens. */
export function publicUrl({ config, api }: Addressed): string {
  const url = new URL(config.publicUrl);
  if (url.port === "0") url.port = String(api().port);
  return url.href.replace(/\/$/, "");
}
