import { Elysia } from "elysia";
import { inbox } from "../../contract/inbox.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { readInbox } from "./read.ts";

/** What waits for the caller, in all projects. */
export const inboxRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/accounts/inbox", tags: ["accounts"] })
    .use(guard(deps))
    .get("", ({ caller }) => readInbox(deps, caller), { user: true, ...answer(200, inbox) });
