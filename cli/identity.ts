import type { Identity, Me } from "../src/contract/account.ts";
import { DEFAULT_SCOPES } from "../src/contract/scope.ts";
import type { Api } from "./api.ts";
import { CliError } from "./failure.ts";

export interface Known {
  identity: Identity;
  /** Empty for a project token. */
  accounts: Me["accounts"];
}

/**
 * The user or project that the token belongs to. Falls back to the account if the server has no `/auth/whoami`.
 * @throws CliError `unauthorized` if the token is not valid.
 */
export async function identify(api: Api): Promise<Known> {
  const identity = await api.call<Identity>({ path: "/auth/whoami" }).catch((error: unknown) => {
    if (error instanceof CliError && error.code === "not_found") return null;
    throw error;
  });
  if (identity?.kind === "project") return { identity: withScopes(identity), accounts: [] };
  const me = await api.call<Me>({ path: "/accounts/me" });
  const { user_id, email, name } = me;
  const nothing = { project_id: null, project_name: null, session_id: null, expires_at: null };
  return {
    identity: withScopes(identity ?? { kind: "user", user_id, email, name, scopes: [], ...nothing }),
    accounts: Array.isArray(me.accounts) ? me.accounts : [],
  };
}

/** A server of an earlier version has tokens without scopes. */
function withScopes({ scopes = [], ...rest }: Identity): Identity {
  return { ...rest, scopes: scopes.length > 0 ? scopes : [...DEFAULT_SCOPES] };
}
