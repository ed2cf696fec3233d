import { signedPath, signUserContext, USER_CONTEXT_LIFE_S } from "../contract/user-context.ts";
import type { Deps } from "../deps.ts";
import type { Admitted } from "./door.ts";

/** Signs one request of somebody's, for the daemon whose key it is. */
export type Signer = (
  admitted: Admitted,
  serviceKey: string,
  request: { method: string; target: string },
) => string;

/** A context is used again for the same method and path until it is half spent. */
const USED_S = USER_CONTEXT_LIFE_S / 2;
/** Contexts kept at once; what is forgotten is signed again. */
const KEPT_MAX = 10_000;

export function createSigner({ clock }: Pick<Deps, "clock">): Signer {
  const kept = new Map<string, { value: string; until: number }>();

  return ({ userId, role, session }, serviceKey, { method, target }) => {
    const now = Math.floor(clock().getTime() / 1000);
    const path = signedPath(target);
    const key = `${serviceKey} ${role} ${userId} ${method} ${path}`;
    const found = kept.get(key);
    if (found && now < found.until) return found.value;
    if (kept.size >= KEPT_MAX) kept.clear();
    const value = signUserContext(serviceKey, {
      user_id: userId,
      session_id: session.sessionId,
      role,
      scopes: [],
      iat: now,
      exp: now + USER_CONTEXT_LIFE_S,
      method,
      path,
    });
    kept.set(key, { value, until: now + USED_S });
    return value;
  };
}
