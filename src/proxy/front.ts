import { SvcError } from "../contract/errors.ts";
import type { Deps } from "../deps.ts";
import type { Decide, Decision, Explain } from "../splice/connection.ts";
import { type Field, fieldOf, type RequestHead } from "../splice/head.ts";
import { rewriteRequestHead } from "../splice/rewrite.ts";
import type { Address } from "../splice/upstream.ts";
import { createDoor } from "./door.ts";
import { createPassage } from "./passage.ts";
import { ofHttp, refuse } from "./refuse.ts";
import { isSandboxTarget, readSandboxTarget } from "./target.ts";

/**
 * What the public listener does with requests: those for sandboxes go to their daemons, all others to the API itself.
 * @param api where that listens
 */
export function createFront(deps: Deps, api: Address): { decide: Decide; explain: Explain } {
  const door = createDoor(deps);
  const pass = createPassage(deps);

  return {
    decide(head, client) {
      if (!isSandboxTarget(head.target)) return { to: api, head: forApi(head, client.address) };
      return orRefuse(head, () => toSandbox(head, client.address));
    },
    explain: (status, message, head) => refuse(deps, explain(status, message, head), head),
  };

  function toSandbox(head: RequestHead, client: string): Decision | Promise<Decision> {
    const visit = { head, client, ...readSandboxTarget(head.target) };
    const admitted = door.byToken(fieldOf(head.fields, "authorization") ?? null, visit.sessionId);
    return admitted instanceof Promise ? admitted.then((found) => pass(found, visit)) : pass(admitted, visit);
  }

  function orRefuse(
    head: RequestHead,
    decide: () => Decision | Promise<Decision>,
  ): Decision | Promise<Decision> {
    const refused = (error: unknown) => ({ answer: refuse(deps, error, head) });
    try {
      const decision = decide();
      return decision instanceof Promise ? decision.catch(refused) : decision;
    } catch (error) {
      return refused(error);
    }
  }
}

/** Only the listener says where a request came from; and the framework misreads paths after a very short Host. */
const FROM_LISTENER = /^(?:host|forwarded|x-forwarded-.*|x-real-ip)$/;

function forApi(head: RequestHead, client: string): Uint8Array {
  const value = (field: Field) => (FROM_LISTENER.test(field.key) ? null : field.value);
  const add = [
    ["Host", "localhost"],
    ["X-Forwarded-Host", head.host],
    ["X-Forwarded-For", client],
  ] as const;
  return rewriteRequestHead(head, { value, add });
}

function explain(status: number, message: string, head: RequestHead | null): SvcError | Error {
  if (status !== 502) return ofHttp(status, message);
  if (head && isSandboxTarget(head.target)) {
    return new SvcError("sandbox_unreachable", "The session's sandbox does not answer.");
  }
  return new SvcError("unavailable", "svc is about to stop. Try again.", {}, { "Retry-After": "5" });
}
