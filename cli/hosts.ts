import { NAME_MAX, REPO_URL_MAX } from "../src/contract/limits.ts";
import { nearest } from "../src/contract/nearest.ts";
import { CliError, usage } from "./failure.ts";
import { oneLine } from "./text.ts";

/** Hosts that exist without configuration (contract 6). */
export const BUILT_IN: Readonly<Record<string, string>> = {
  cloud: "https://api.svc.example/v1",
  selfhost: "http://localhost:13738/v1",
  "local-dev": "http://localhost:8008/v1",
  "svc-internal-dev": "https://api.dev.svc.example/v1",
};

/** Active until another is chosen: `cloud` is a placeholder, and a first server runs on the machine itself. */
export const DEFAULT_HOST = "local-dev";

const HOST_NAME = /^[a-z0-9][a-z0-9._-]*$/;

export const isHostName = (name: string): boolean => HOST_NAME.test(name) && name.length <= NAME_MAX;

/** @throws CliError `usage`. */
export function checkHostName(name: string): string {
  if (isHostName(name)) return name;
  throw usage(
    `Not a host name: ${oneLine(name)}`,
    "Host names are lower-case letters, digits, dots, dashes and underscores, for example `team`.",
  );
}

/** An API's address in its one form: no credentials, no trailing slash, `/v1` once. Null for anything else. */
export function normalizeUrl(input: string): string | null {
  if (input.length > REPO_URL_MAX || !/^https?:\/\//i.test(input) || !URL.canParse(input)) return null;
  const url = new URL(input);
  if (url.username || url.password || url.search || url.hash) return null;
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith("/v1") ? path : `${path}/v1`}`;
}

/** @throws CliError `usage`, naming where the address was read. */
export function readUrl(input: string, where: string): string {
  const url = normalizeUrl(input);
  if (url !== null) return url;
  throw usage(
    `${where} is not the address of an API: ${oneLine(input).slice(0, 200)}`,
    "It begins with https:// (or http://) and has no user name, query or fragment: https://svc.example.com",
  );
}

/** A name for an address that has none: `svc.example.com`, `127.0.0.1-8008`. */
export function nameFromUrl(url: string): string {
  const name = new URL(url).host.toLowerCase().replace(/[^a-z0-9.-]+/g, "-");
  const trimmed = name.replace(/^[^a-z0-9]+|-+$/g, "").slice(0, NAME_MAX);
  return isHostName(trimmed) ? trimmed : "host";
}

/** Whether what is sent there can be read on the way. */
export function isUnencrypted(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

export function unknownHost(name: string, known: readonly string[]): CliError {
  const guess = nearest(name, known);
  return new CliError("host_unknown", `There is no host called ${oneLine(name)}.`, {
    hint:
      guess === undefined
        ? `Hosts: ${known.join(", ")}. \`svc hosts add <name> --url <url>\` registers another.`
        : `Did you mean \`${guess}\`?`,
  });
}
