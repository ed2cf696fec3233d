import { EGRESS_PRESETS, isPreset } from "./presets.ts";

/** What sandboxes may connect to, the most open first. Private and link-local addresses are closed in each. */
export const EGRESS_MODES = ["open", "restricted", "none"] as const;
export type EgressMode = (typeof EGRESS_MODES)[number];

/** What a sandbox may connect to: with `open`, the public internet; otherwise only what `allow` has. */
export interface EgressPolicy {
  mode: EgressMode;
  /** Entries in the form of `readEntry`. */
  allow: readonly string[];
}

export const OPEN: EgressPolicy = { mode: "open", allow: [] };

/** Entries of one list. */
export const EGRESS_ALLOW_MAX = 200;
/** The longest name of DNS, the prefix of a wildcard and a port. */
export const EGRESS_ENTRY_MAX = 253 + 2 + 6;
/** The ports of an entry without one. */
const DEFAULT_PORTS: readonly number[] = [443, 80];
const PRESET = "preset:";
const LABELS = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/**
 * Reads an entry of an allow list: `name`, `*.name`, `1.2.3.4`, each with or without `:port`, or `preset:name`.
 * @returns its one form: lower case, A-labels, without a trailing dot; null when it is none
 */
export function readEntry(text: string): string | null {
  if (text.startsWith(PRESET)) return isPreset(text.slice(PRESET.length)) ? text : null;
  const [, wild = "", written = "", digits] = /^(\*\.)?([^*:]+)(?::([1-9]\d{0,4}))?$/.exec(text) ?? [];
  const host = readHost(written);
  if (host === null || Number(digits ?? 1) > 65_535) return null;
  // `*.com` would be half of the internet, and an address in another notation is a mistake
  if (wild !== "" && (IPV4.test(host) || !host.includes("."))) return null;
  if (IPV4.test(host) && written !== host) return null;
  return `${wild}${host}${digits === undefined ? "" : `:${digits}`}`;
}

/**
 * The one form of a host: lower case, A-labels (IDNA), without a trailing dot; an IPv4 address of any notation with
 * four decimal numbers. Null for IPv6 and for what is not a host.
 */
export function readHost(text: string): string | null {
  if (text.length > EGRESS_ENTRY_MAX || /[\s/?#@:\\[\]%\p{Cc}]/u.test(text)) return null;
  const host = (URL.parse(`http://${text}/`)?.hostname ?? "").replace(/\.$/, "");
  return host.length <= 253 && LABELS.test(host) ? host : null;
}

/**
 * Whether a list allows a connection. A name matches itself, `*.x` matches names below x and not x; an address matches
 * only the same address. Without a port, an entry is for 443 and 80.
 * @param allow entries in the form of `readEntry`
 */
export function allows(allow: readonly string[], host: string, port: number): boolean {
  const name = readHost(host);
  return name !== null && withPresets(allow).some((entry) => matches(entry, name, port));
}

function withPresets(allow: readonly string[]): readonly string[] {
  return allow.flatMap((entry) => {
    const name = entry.startsWith(PRESET) ? entry.slice(PRESET.length) : "";
    return isPreset(name) ? EGRESS_PRESETS[name] : [entry];
  });
}

function matches(entry: string, name: string, port: number): boolean {
  const [pattern = "", digits] = entry.split(":");
  if (digits === undefined ? !DEFAULT_PORTS.includes(port) : Number(digits) !== port) return false;
  if (!pattern.startsWith("*.")) return pattern === name;
  return !IPV4.test(name) && name.endsWith(pattern.slice(1)) && name.length > pattern.length - 1;
}

/** The policy of a project on a server whose operator limits it: no more open than the limit, and with its list. */
export function limited(wanted: EgressPolicy, limit: EgressPolicy): EgressPolicy {
  const mode = EGRESS_MODES[Math.max(rank(wanted.mode), rank(limit.mode))] ?? "none";
  return { mode, allow: [...new Set([...limit.allow, ...(mode === "none" ? [] : wanted.allow)])] };
}

const rank = (mode: EgressMode): number => EGRESS_MODES.indexOf(mode);
