import { Elysia } from "elysia";
import type { Role } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Scope } from "../../contract/scope.ts";
import type { Deps } from "../../deps.ts";
import {
  type Caller,
  type Credentials,
  isOperator,
  type ProjectRow,
  resolveCaller,
  resolveProject,
} from "./caller.ts";
import { cookieRequestOf, cookieSecret } from "./cookie.ts";
import { originOf } from "./origin.ts";
import { requireOwner } from "./owner.ts";

/**
 * The access that a project route requires. `write`: any token of the project or of a member. `report`: the same, for
 * which the scope `checks` is enough. `user`: a member's user token, for settings that agents must not change. `manage`: a
 * user token of an owner or admin.
 */
export type ProjectAccess = "write" | "report" | "user" | "manage";

/** An authorized caller. Long-running requests repeat the check with `again`. */
type Allowed = { caller: Caller; project: ProjectRow; role: Role };

type UserCaller = Extract<Caller, { kind: "user" }>;

/**
 * The macros by which a route declares its callers: `caller` (any token, with this scope), `user: true` (a user token),
 * `operator: true` (a user token of an operator) or `project: <access>` (on paths with `:projectId`, and with `:owner` if they
 * name the account, too). They run before the request is validated, so that unauthenticated callers learn nothing else about a
 * route. A request that may change something requires the scope `write`, others `read`.
 */
export function guard(deps: Deps) {
  const callers = new WeakMap<Request, Caller>();
  const users = new WeakMap<Request, UserCaller>();
  const found = new WeakMap<Request, Allowed & { again: () => Promise<Allowed> }>();
  return new Elysia({ name: "guard" }).macro({
    caller: (scope: Scope | "any") => ({
      detail: ANY_TOKEN,
      async transform({ request }) {
        const required = scope === "any" ? null : scope;
        callers.set(request, await resolveCaller(deps, credentialsOf(deps, request), required));
      },
      resolve: ({ request }) => ({ caller: known(callers, request) }),
    }),
    user: (_: true) => ({
      detail: USER_TOKEN,
      async transform({ request }) {
        users.set(request, await resolveUser(deps, request, "account"));
      },
      resolve: ({ request }) => ({ caller: known(users, request) }),
    }),
    operator: (_: true) => ({
      detail: USER_TOKEN,
      async transform({ request }) {
        const caller = await resolveUser(deps, request, "server");
        if (!(await isOperator(deps, caller))) {
          throw new SvcError(
            "forbidden",
            "Only an operator of this server may do this. On its machine, make a user one with: svc-api admin operator --email <address>",
          );
        }
        users.set(request, caller);
      },
      resolve: ({ request }) => ({ caller: known(users, request) }),
    }),
    project: (access: ProjectAccess) => ({
      detail: isForAnyToken(access) ? ANY_TOKEN : USER_TOKEN,
      async transform({ request, params }) {
        const name: unknown = Reflect.get(Object(params), "projectId");
        const credentials = credentialsOf(deps, request);
        const again = async () => {
          const required = access === "report" ? "checks" : scopeOf(request);
          const named = typeof name === "string" ? name : "";
          const resolved = await resolveProject(deps, credentials, named, required);
          allow(access, resolved.caller, resolved.role);
          return resolved;
        };
        found.set(request, { ...(await again()), again });
      },
      async resolve({ request, params }) {
        const allowed = known(found, request);
        const owner: unknown = Reflect.get(Object(params), "owner");
        if (typeof owner === "string") await requireOwner(deps, allowed.project, owner);
        return allowed;
      },
    }),
  });
}

/** For the OpenAPI document. */
const ANY_TOKEN = { security: [{ token: [] }] };
const USER_TOKEN = { security: [{ userToken: [] }] };

function isForAnyToken(access: ProjectAccess): boolean {
  return access === "write" || access === "report";
}

/** The scope that a request requires by its method. */
function scopeOf({ method }: Request): Scope {
  return method === "GET" || method === "HEAD" ? "read" : "write";
}

/** @throws forbidden for a request from another site */
function credentialsOf(deps: Deps, request: Request): Credentials {
  const authorization = request.headers.get("authorization");
  const origin = originOf(request);
  if (authorization !== null) return { authorization, origin };
  return { authorization, browser: cookieSecret(deps, cookieRequestOf(request)), origin };
}

/** @throws unauthorized; insufficient_scope; forbidden for a project token */
async function resolveUser(deps: Deps, request: Request, what: "account" | "server"): Promise<UserCaller> {
  const caller = await resolveCaller(deps, credentialsOf(deps, request), scopeOf(request));
  if (caller.kind === "user") return caller;
  throw new SvcError(
    "forbidden",
    `A project token cannot be used for ${what} routes. Sign in with a user token.`,
  );
}

function allow(access: ProjectAccess, caller: Caller, role: Role): void {
  if (isForAnyToken(access)) return;
  if (caller.kind !== "user") {
    throw new SvcError("forbidden", "A project token cannot change the project itself. Use a user token.");
  }
  if (access === "manage") requireManager(role, "Only an owner or admin of the account may do this.");
}

/** For routes that require it for some bodies only. @throws forbidden with `sentence` */
export function requireManager(role: Role, sentence: string): void {
  if (role === "member") throw new SvcError("forbidden", sentence);
}

function known<T>(map: WeakMap<Request, T>, request: Request): T {
  const value = map.get(request);
  if (!value) throw new Error("a guarded route ran without its guard");
  return value;
}
