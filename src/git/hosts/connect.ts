import { resolveHost } from "../../lib/address.ts";
import { publicAddresses } from "../remote/address.ts";
import { secretsOf } from "../remote/remote.ts";
import type { Engine } from "../run/engine.ts";
import { hasProxy } from "../run/environment.ts";
import { redact } from "../run/redact.ts";
import { valueAt } from "./api.ts";
import { callHost, type HostAnswer } from "./call.ts";
import type { HostedRepository } from "./host.ts";

/** Calls the API of one host. @throws errors of the network */
export type Call = (method: "GET" | "POST", path: string, body: object | null) => Promise<HostAnswer>;

/** The most bytes of a host's reason. */
const REASON_MAX_BYTES = 256;

/**
 * Prepares calls of a host, with one deadline for all of them together.
 * @param maxBytes of each answer
 * @throws SvcError `repo_not_allowed`: the host has a private address
 */
export async function connectHost(
  engine: Engine,
  { api, base, credential, trusted }: HostedRepository,
  maxBytes: number,
): Promise<Call> {
  const signal = AbortSignal.timeout(engine.limits.apiMs);
  const address = trusted || engine.remote.allowPrivate ? null : await checkedAddress(engine, base);
  return (method, path, body) =>
    callHost({
      method,
      url: `${base}${path}`,
      headers: api.headers(credential.token),
      body,
      address,
      maxBytes,
      signal,
    });
}

/** The host's words for a refusal, without the credential. */
export function reasonOf(answer: unknown, { credential }: HostedRepository): string {
  const words = valueAt(answer, "message");
  return cleanReason(typeof words === "string" ? words : "no reason was given", credential);
}

export function cleanReason(reason: string, credential: HostedRepository["credential"]): string {
  return redact(reason, secretsOf(credential), [], REASON_MAX_BYTES);
}

/** Checked like a repository's host, unless a proxy connects to it. */
async function checkedAddress(engine: Engine, base: string): Promise<string | null> {
  const { resolve = resolveHost, limits } = engine.remote;
  const [address] = await publicAddresses(new URL(base).hostname, resolve, limits.resolveMs);
  return hasProxy() ? null : (address ?? null);
}
