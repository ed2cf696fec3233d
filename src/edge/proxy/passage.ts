import { randomUUID } from "node:crypto";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { noteActivity } from "../../features/sessions/activity.ts";
import { isWithinReach } from "../../jobs/places.ts";
import type { Daemon } from "../../sandboxes/daemon.ts";
import type { Decision } from "../../splice/connection.ts";
import { type Field, isGivenTwice } from "../../splice/fields.ts";
import type { RequestHead } from "../../splice/head.ts";
import { rewriteRequestHead } from "../../splice/rewrite.ts";
import type { Client } from "./client.ts";
import type { Admitted } from "./door.ts";
import { notRunning } from "./not-running.ts";
import { createSigner } from "./signer.ts";
import { type Asked, daemonTarget } from "./target.ts";

/** A request for a sandbox, of somebody who may ask. */
export interface Visit extends Asked {
  head: RequestHead;
  client: Client;
  seen: Seen;
}

/** What the sandbox sees of where it is asked. */
interface Seen {
  host: string;
  /** Takes the place of the request's own `Origin`; null: that stays. */
  origin: string | null;
  /** How the client has come, where the sandbox is told. */
  scheme?: string;
  /** Whether an `Authorization` is the app's, and passes; else it was meant for svc. */
  authorization: boolean;
}

/** Passes a request on to the session's daemon. @throws SvcError, or rejects with it, when it may not pass */
export type Passage = (admitted: Admitted, visit: Visit) => Decision | Promise<Decision>;

/**
 * The daemon is asked as the contract has it (Signed user context): with a signature of who asks, and without anything
 * of svc's that the client has sent.
 */
export function createPassage(deps: Deps): Passage {
  const sign = createSigner(deps);

  return (admitted, visit) => {
    const { session, daemon } = admitted;
    const { head, client, seen } = visit;
    const target = daemonTarget(head.method, visit);
    if (isGivenTwice(head.fields, "x-svc-user-context")) {
      throw new SvcError("validation_failed", "X-Svc-User-Context is given twice.");
    }
    if (session.status !== "running" || !daemon) return notRunning(deps, session, head);
    if (!isWithinReach(deps, session)) {
      const sentence = `The session runs on another server's machine. Restart it from this server to run it here: svc sessions restart ${session.sessionId}`;
      throw new SvcError("sandbox_unreachable", sentence);
    }
    noteActivity(deps, session.sessionId);
    return toDaemon(daemon, sign(admitted, daemon, { method: head.method, target }), {
      head,
      client,
      target,
      seen,
    });
  };
}

/** Passes a request on to a sandbox's daemon, with nothing of svc's that the client has sent. */
export function toDaemon(
  daemon: Daemon,
  context: string,
  { head, client, target, seen }: { head: RequestHead; client: Client; target: string; seen: Seen },
): Decision {
  const add = [
    ["Host", seen.host],
    ["X-Svc-User-Context", context],
    ["X-Request-Id", randomUUID()],
    ["X-Forwarded-For", client.address],
    ...(seen.scheme === undefined
      ? []
      : ([
          ["X-Forwarded-Host", seen.host],
          ["X-Forwarded-Proto", client.scheme ?? seen.scheme],
        ] as const)),
  ] as const;
  const value = (field: Field) => forSandbox(field, seen);
  const { hostname, port, unix } = daemon.address;
  const to = unix === undefined ? { hostname, port } : { unix };
  return { to, head: rewriteRequestHead(head, { target, value, add }) };
}

/** What is svc's business, and what only a proxy may say. */
const NOT_FOR_SANDBOX = /^(?:host|x-request-id|x-svc-.*|forwarded|x-forwarded-.*|x-real-ip)$/;

function forSandbox({ key, value }: Field, { origin, authorization }: Seen): string | null {
  if (NOT_FOR_SANDBOX.test(key)) return null;
  if (key === "authorization") return authorization && !OWN_TOKEN.test(value) ? value : null;
  if (key === "origin") return origin ?? value;
  return key === "cookie" ? withoutOwnCookies(value) : value;
}

/** A bearer of svc's; the daemon looks into the other schemes. */
const OWN_TOKEN = /^\S+ +svc_/i;
/** svc's own cookies, by the beginning of their names, which some servers read in either case. */
const OWN_COOKIE = /^(?:__Host-|__Secure-)?svc(?:_|=)/i;

function withoutOwnCookies(value: string): string | null {
  const others = value.split(";").filter((cookie) => !OWN_COOKIE.test(cookie.trim()));
  return others.join(";").trim() || null;
}
