import { randomUUID } from "node:crypto";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { noteActivity } from "../../features/sessions/activity.ts";
import { isWithinReach } from "../../jobs/places.ts";
import type { Daemon } from "../../sandboxes/daemon.ts";
import type { Decision, Forward as Forwarded } from "../../splice/connection.ts";
import { type Field, isGivenTwice } from "../../splice/fields.ts";
import type { RequestHead } from "../../splice/head.ts";
import { rewriteRequestHead } from "../../splice/rewrite.ts";
import type { Admitted } from "./admission.ts";
import type { Client } from "./client.ts";
import { notRunning } from "./not-running.ts";
import { createSigner } from "./signer.ts";
import { daemonTarget, type SandboxTarget } from "./target.ts";

/** An authorized request for a sandbox. */
export interface Visit extends SandboxTarget {
  head: RequestHead;
  client: Client;
  seen: Seen;
}

/** The request's headers as the sandbox sees them. */
interface Seen {
  host: string;
  /** Replaces the request's `Origin`; null: it stays. */
  origin: string | null;
  /** The client's scheme; undefined: not forwarded. */
  scheme?: string;
  /** Whether `Authorization` is for the app and is forwarded; else it is for svc. */
  authorization: boolean;
}

/** Forwards a request to the session's daemon. @throws SvcError, or rejects with it, when it is not allowed */
export type Forward = (admitted: Admitted, visit: Visit) => Decision | Promise<Decision>;

/** Forwards with the signed user context of the caller (contract: Signed user context). */
export function createForward(deps: Deps): Forward {
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

/** Forwards a request to a sandbox's daemon, without the client's svc headers, tokens and cookies. */
export function toDaemon(
  daemon: Daemon,
  context: string,
  { head, client, target, seen }: { head: RequestHead; client: Client; target: string; seen: Seen },
): Forwarded {
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

/** Headers for svc, and headers that only a proxy may set. */
const NOT_FOR_SANDBOX = /^(?:host|x-request-id|x-svc-.*|forwarded|x-forwarded-.*|x-real-ip)$/;

function forSandbox({ key, value }: Field, { origin, authorization }: Seen): string | null {
  if (NOT_FOR_SANDBOX.test(key)) return null;
  if (key === "authorization") return authorization && !OWN_TOKEN.test(value) ? value : null;
  if (key === "origin") return origin ?? value;
  return key === "cookie" ? withoutOwnCookies(value) : value;
}

/** A bearer token of svc; the daemon checks the other schemes. */
const OWN_TOKEN = /^\S+ +svc_/i;
/** svc's cookies, by the prefix of their names; some servers ignore the case. */
const OWN_COOKIE = /^(?:__Host-|__Secure-)?svc(?:_|=)/i;

function withoutOwnCookies(value: string): string | null {
  const others = value.split(";").filter((cookie) => !OWN_COOKIE.test(cookie.trim()));
  return others.join(";").trim() || null;
}
