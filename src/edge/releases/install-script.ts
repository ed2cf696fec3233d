import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The build embeds the script beside the code, under its base name. */
const CANDIDATES = [
  join(import.meta.dir, "install.sh"),
  join(import.meta.dir, "../../../scripts/install.sh"),
];

/** What a server fills in. */
export interface Pinned {
  /** The server's URL, without a trailing slash. */
  origin: string;
  /** The public key of its releases: base64 of the DER, the one line of the PEM. */
  publicKey: string;
}

/** `scripts/install.sh` as it is in the source tree. */
export function readInstallScript(): string {
  const path = CANDIDATES.find((candidate) => existsSync(candidate));
  if (path === undefined) throw new Error("install.sh is not part of this build");
  return readFileSync(path, "utf8");
}

/** The script with the server's address and key as quoted words of the shell, which nothing in them can end. */
export function fillIn(script: string, { origin, publicKey }: Pinned): string {
  return assign(assign(script, "ORIGIN", origin), "PUBLIC_KEY", publicKey);
}

function assign(script: string, name: string, value: string): string {
  const [before, after, ...more] = script.split(`\n${name}=''\n`);
  if (after === undefined || more.length > 0) throw new Error(`install.sh must set ${name} to '' once`);
  return `${before}\n${name}='${value.replaceAll("'", "'\\''")}'\n${after}`;
}
