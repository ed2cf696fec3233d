import {
  signedPath,
  signUserContext,
  USER_CONTEXT_LIFE_S,
  type UserRole,
} from "../../contract/user-context.ts";
import type { Deps } from "../../deps.ts";
import type { Daemon } from "../../sandboxes/daemon.ts";

/** Signs the user context of a request for a daemon. */
export type Signer = (
  user: { userId: string; role: UserRole },
  daemon: Pick<Daemon, "serviceKey" | "sessionId">,
  request: { method: string; target: string },
) => string;

/** A context is reused for the same method and path for half of its life. */
const REUSE_S = USER_CONTEXT_LIFE_S / 2;
const CACHE_MAX = 10_000;

export function createSigner({ clock }: Pick<Deps, "clock">): Signer {
  const kept = new Map<string, { value: string; until: number }>();

  return ({ userId, role }, { serviceKey, sessionId }, { method, target }) => {
    const now = Math.floor(clock().getTime() / 1000);
    const path = signedPath(target);
    const key = `${serviceKey} ${role} ${userId} ${method} ${path}`;
    const found = kept.get(key);
    if (found && now < found.until) return found.value;
    if (kept.size >= CACHE_MAX) kept.clear();
    const value = signUserContext(serviceKey, {
      user_id: userId,
      session_id: sessionId,
      role,
      scopes: [],
      iat: now,
      exp: now + USER_CONTEXT_LIFE_S,
      method,
      path,
    });
    kept.set(key, { value, until: now + REUSE_S });
    return value;
  };
}
