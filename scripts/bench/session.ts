import type { Session } from "../../src/contract/session.ts";
import type { SETUP_RESULTS } from "../../src/contract/setup.ts";
import { until } from "../../test/helpers/until.ts";
import { timed } from "./measure.ts";
import type { Server } from "./server.ts";

type SetupResult = (typeof SETUP_RESULTS)[number];

/**
 * Creates a session and waits until it is running.
 * @param place the path of its project's sessions
 * @returns its id
 */
export async function startSession(server: Server, place: string, body: object = {}): Promise<string> {
  const { session_id } = await server.call<Session>("POST", place, body);
  const runs = async () => {
    const { status, error } = await server.call<Session>("GET", `${place}/${session_id}`);
    if (status !== "running" && status !== "provisioning")
      throw new Error(`the session is ${status}: ${error}`);
    return status === "running";
  };
  await until("a session runs", runs);
  return session_id;
}

/**
 * Creates and deletes a session.
 * @param setup how its setup command must have ended; null: it has none
 * @returns milliseconds from the request until it is running
 */
export async function timeSession(
  server: Server,
  place: string,
  setup: SetupResult | null = null,
): Promise<number> {
  let session = "";
  const ms = await timed(async () => {
    session = await startSession(server, place);
  });
  const { setup: ended } = await server.call<Session>("GET", `${place}/${session}`);
  if ((ended?.state ?? null) !== setup) throw new Error(`the setup is ${ended?.state}, not ${setup}`);
  await endSession(server, place, session);
  return ms;
}

/** Deletes a session and waits until it is removed, so that this does not slow down the next measurement. */
export async function endSession(server: Server, place: string, id: string): Promise<void> {
  await server.call("DELETE", `${place}/${id}`);
  const isGone = async () => {
    const { sessions } = await server.call<{ sessions: Session[] }>("GET", place);
    return !sessions.some(({ session_id }) => session_id === id);
  };
  await until("a session is deleted", isGone);
}
