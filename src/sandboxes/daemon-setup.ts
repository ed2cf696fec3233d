import { type SetupVerb, setupPath } from "../contract/setup.ts";
import { contextOf, type Daemon, request } from "./daemon.ts";

/** The daemon answers at once. */
const ANSWER_MS = 10_000;
/** For the largest archive. */
const COPY_MS = 10 * 60_000;

/** Tells a waiting setup whether its command runs. @throws when the daemon does not accept it */
export async function decideSetup(
  daemon: Daemon,
  verb: "run" | "run-and-keep",
  signal: AbortSignal,
): Promise<void> {
  await send(daemon, "POST", verb, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
}

/** Gives a waiting setup what its command would add, as a tar. @throws when it was not restored: the command runs */
export async function restoreSetup(daemon: Daemon, tar: Blob, signal: AbortSignal): Promise<void> {
  await send(daemon, "POST", "restore", AbortSignal.any([signal, AbortSignal.timeout(COPY_MS)]), tar);
}

/** What the command of a setup has added, as a tar. @throws when the daemon does not return it */
export async function readSetup(daemon: Daemon, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(COPY_MS)]);
  const { body } = await send(daemon, "GET", "files", limit);
  if (!body) throw new Error("a daemon's setup: no body");
  return body;
}

async function send(
  daemon: Daemon,
  method: "GET" | "POST",
  verb: SetupVerb,
  signal: AbortSignal,
  body?: Blob,
): Promise<Response> {
  const path = setupPath(verb);
  const response = await request(daemon, path, {
    method,
    headers: { "X-Svc-User-Context": contextOf(daemon, method, path) },
    ...(body && { body }),
    signal,
    redirect: "manual",
    keepalive: false,
  });
  if (response.ok) return response;
  await response.body?.cancel();
  throw new Error(`a daemon's setup: ${response.status}`);
}
