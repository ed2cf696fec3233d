import { NAME_MAX, REPO_URL_MAX } from "../src/contract/limits.ts";
import { nearest } from "../src/contract/nearest.ts";
import { hostOf, isLoopback } from "../src/contract/proxy.ts";
import { CliError, usage } from "./failure.ts";
import { oneLine } from "./text.ts";

/** Hosts that exist without configuration (contract 6). */
export const BUILT_IN: Readonly<Record<string, string>> = {
  cloud: "https://api.svc.example/v1",
  selfhost: "http://localhost:13738/v1",
  "local-dev": "http://localhost:8008/v1",
  "svc-internal-dev": "https://api.dev.svc.example/v1",
};

/** The active host by default: `cloud` is a placeholder, and a first server runs locally. */
export const DEFAULT_HOST = "local-dev";
/** The host that `svc self-host start` registers. */
export const SELF_HOST = "selfhost";

const HOST_NAME = /^[a-z0-9][a-z0-9._-]*$/;

export const isHostName = (name: string): boolean => HOST_NAME.test(name) && name.length <= NAME_MAX;

/** @throws CliError `usage`. */
export function checkHostName(name: string): string {
  if (isHostName(name)) return name;
  throw usage(
    `Not a host name: ${oneLine(name)}`,
    "Host names consist of lower-case letters, digits, dots, dashes and underscores, for example `team`.",
  );
}

/** Normalizes an API's address: no credentials, no trailing slash, one `/v1`. Null if it is invalid. */
export function normalizeUrl(input: string): string | null {
  if (input.length > REPO_URL_MAX || !/^https?:\/\//i.test(input) || !URL.canParse(input)) return null;
  const url = new URL(input);
  if (url.username || url.password || url.search || url.hash) return null;
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith("/v1") ? path : `${path}/v1`}`;
}

/** @throws CliError `usage`, naming the source of the address. */
export function readUrl(input: string, where: string): string {
  const url = normalizeUrl(input);
  if (url !== null) return url;
  throw usage(
    `${where} is not a valid API address: ${oneLine(input).slice(0, 200)}`,
    "It must begin with https:// (or http://) and have no user name, query or fragment: https://svc.example.com",
  );
}

/** Derives a host name from an address: `svc.example.com`, `127.0.0.1-8008`. */
export function nameFromUrl(url: string): string {
  const name = new URL(url).host.toLowerCase().replace(/[^a-z0-9.-]+/g, "-");
  const trimmed = name.replace(/^[^a-z0-9]+|-+$/g, "").slice(0, NAME_MAX);
  return isHostName(trimmed) ? trimmed : "host";
}

/** Whether requests to the address are sent in plain text over a network. */
export const isUnencrypted = (url: string): boolean =>
  new URL(url).protocol === "http:" && !isLoopbackUrl(url);

/** Whether the address is one of this machine alone. */
export const isLoopbackUrl = (url: string): boolean => isLoopback(hostOf(url));

export function unknownHost(name: string, known: readonly string[]): CliError {
  const guess = nearest(name, known);
  return new CliError("host_unknown", `Host not found: ${oneLine(name)}.`, {
    hint:
      guess === undefined
        ? `Hosts: ${known.join(", ")}. \`svc hosts add <name> --url <url>\` registers another.`
        : `Did you mean \`${guess}\`?`,
  });
}
