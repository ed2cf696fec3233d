/**
 * What a token may do at most; the role of its user decides the rest (contract: Token scopes). `write`: everything. `read`:
 * requests that change nothing, and fetches. `git:read`: fetches. `git:write`: fetches and pushes. `checks`: to report commit
 * statuses and check runs.
 */
export const SCOPES = ["read", "write", "git:read", "git:write", "checks"] as const;
export type Scope = (typeof SCOPES)[number];

/** Of tokens that are created without scopes, and of sessions. */
export const DEFAULT_SCOPES: readonly Scope[] = ["write"];

const INCLUDED: Readonly<Record<Scope, readonly Scope[]>> = {
  write: SCOPES,
  read: ["read", "git:read"],
  "git:read": ["git:read"],
  "git:write": ["git:read", "git:write"],
  checks: ["checks"],
};

/** Whether one of a token's scopes includes the scope that a request requires. */
export function includesScope(scopes: readonly Scope[], required: Scope): boolean {
  return scopes.some((scope) => INCLUDED[scope].includes(required));
}
