import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { usage, usageQuery } from "../../contract/usage.ts";
import type { Deps } from "../../deps.ts";
import { answer, uuidParam } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { readUsage } from "./usage.ts";

/** What an account's model calls have used. The calls themselves are `gateway.ts`. */
export const usageRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/accounts/:accountId", tags: ["models"] })
    .use(guard(deps))
    .get("/usage", ({ caller, params, query }) => readUsage(deps, caller, params.accountId, query), {
      user: true,
      params: Type.Object({ accountId: uuidParam }),
      query: usageQuery,
      ...answer(200, usage),
    });
