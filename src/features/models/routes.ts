import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { modelUpstream, setModelUpstreamBody } from "../../contract/model-upstream.ts";
import { usage, usageQuery } from "../../contract/usage.ts";
import type { Deps } from "../../deps.ts";
import { answer, listOf, ok, uuidParam } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { listServerUpstreams, listUpstreams } from "./list-upstreams.ts";
import { removeUpstream } from "./remove-upstream.ts";
import { setUpstream } from "./set-upstream.ts";
import { readUsage } from "./usage.ts";

/** Usage and upstreams of models. The calls themselves are `gateway.ts`. */
export const modelRoutes = (deps: Deps) =>
  new Elysia().use(usageRoutes(deps)).use(upstreamRoutes(deps)).use(serverUpstreamRoutes(deps));

/** What an account's model calls have used. */
const usageRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/accounts/:accountId", tags: ["models"] })
    .use(guard(deps))
    .get("/usage", ({ caller, params, query }) => readUsage(deps, caller, params.accountId, query), {
      user: true,
      params: Type.Object({ accountId: uuidParam }),
      query: usageQuery,
      ...answer(200, usage),
    });

const one = {
  project: "manage",
  params: Type.Object({ projectId: Type.String(), upstream: Type.String() }),
} as const;

/** The upstreams that a project brings itself, with its own keys. */
const upstreamRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/model-upstreams", tags: ["models"] })
    .use(guard(deps))
    .get("", ({ project }) => listUpstreams(deps, project), {
      project: "user",
      ...answer(200, listOf("model_upstreams", modelUpstream)),
    })
    .put(
      "/:upstream",
      ({ caller, project, params, body }) => setUpstream(deps, caller, project, params.upstream, body),
      { ...one, body: setModelUpstreamBody, ...answer(200, modelUpstream) },
    )
    .delete(
      "/:upstream",
      ({ caller, project, params }) => removeUpstream(deps, caller, project, params.upstream),
      {
        ...one,
        ...answer(200, ok),
      },
    );

const oneOfServer = { operator: true, params: Type.Object({ upstream: Type.String() }) } as const;

/** The server's upstreams that are in the database, for operators. */
const serverUpstreamRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/server/model-upstreams", tags: ["models"] })
    .use(guard(deps))
    .get("", () => listServerUpstreams(deps), {
      operator: true,
      ...answer(200, listOf("model_upstreams", modelUpstream)),
    })
    .put("/:upstream", ({ caller, params, body }) => setUpstream(deps, caller, null, params.upstream, body), {
      ...oneOfServer,
      body: setModelUpstreamBody,
      ...answer(200, modelUpstream),
    })
    .delete("/:upstream", ({ caller, params }) => removeUpstream(deps, caller, null, params.upstream), {
      ...oneOfServer,
      ...answer(200, ok),
    });
