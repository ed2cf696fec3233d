import {
  signedPath,
  signUserContext,
  USER_CONTEXT_LIFE_S,
  type UserRole,
} from "../../contract/user-context.ts";
import type { Deps } from "../../deps.ts";
import type { Daemon } from "../../sandboxes/daemon.ts";

/** Signs one request of a user's, for the daemon that gets it. */
export type Signer = (
  user: { userId: string; role: UserRole },
  daemon: Pick<Daemon, "serviceKey" | "sessionId">,
  request: { method: string; target: string },
) => string;

/** A context is used again for the same method and path until it is half spent. */
const USED_S = USER_CONTEXT_LIFE_S / 2;
/** Contexts kept at once; what is forgotten is signed again. */
const KEPT_MAX = 10_000;

export function createSigner({ clock }: Pick<Deps, "clock">): Signer {
  const kept = new Map<string, { value: string; until: number }>();

  return ({ userId, role }, { serviceKey, sessionId }, { method, target }) => {
    const now = Math.floor(clock().getTime() / 1000);
    const path = signedPath(target);
    const key = `${serviceKey} ${role} ${userId} ${method} ${path}`;
    const found = kept.get(key);
    if (found && now < found.until) return found.value;
    if (kept.size >= KEPT_MAX) kept.clear();
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
    kept.set(key, { value, until: now + USED_S });
    return value;
  };
}
