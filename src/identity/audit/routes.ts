import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { auditEvent, auditQuery } from "../../contract/audit.ts";
import type { Deps } from "../../deps.ts";
import { pageQuery, readPage } from "../../http/page.ts";
import { answer, listOf, uuidParam } from "../../http/schema.ts";
import { guard } from "../auth/guard.ts";
import { listAudit } from "./list.ts";

/** The audit log of an account, for its owners and admins. */
export const auditRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/accounts/:accountId/audit", tags: ["accounts"] })
    .use(guard(deps))
    .get(
      "",
      ({ caller, params, query }) => listAudit(deps, caller, params.accountId, query, readPage(query)),
      {
        user: true,
        params: Type.Object({ accountId: uuidParam }),
        query: Type.Object({ ...pageQuery, ...auditQuery }),
        ...answer(200, listOf("audit_events", auditEvent)),
      },
    );
