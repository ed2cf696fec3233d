import { Elysia } from "elysia";
import { SvcError } from "../../contract/errors.ts";
import { EXECUTOR_PATH } from "../../contract/executor.ts";
import type { Deps } from "../../deps.ts";
import { unauthorized } from "../../identity/auth/caller.ts";
import { guard } from "../../identity/auth/guard.ts";
import { requireKnownOrigin } from "./origin.ts";

/** The Model Context Protocol over streamable HTTP, without sessions: each request stands alone. */
export const executorRoutes = (deps: Deps) =>
  new Elysia({ tags: ["mcp"] }).use(guard(deps)).post(
    EXECUTOR_PATH,
    async ({ caller, request, body, set }) => {
      requireKnownOrigin(deps, request.headers.get("origin"));
      const authorization = request.headers.get("authorization");
      if (authorization === null) throw unauthorized("The MCP endpoint requires a token, not a cookie.");
      if (body === undefined)
        throw new SvcError("invalid_json", "The body is empty. Send a JSON-RPC message of MCP.");
      // the protocol's code is loaded by the first request: most servers never get one
      const { answerMessage } = await import("./answer.ts");
      const requestId = String(set.headers["x-request-id"]);
      return answerMessage(deps, { caller, authorization, requestId }, request, body);
    },
    { caller: "write", detail: DESCRIPTION },
  );

const MESSAGE = { schema: { type: "object" as const, additionalProperties: true } };

const DESCRIPTION = {
  description:
    "One JSON-RPC message of the Model Context Protocol, streamable HTTP. The response is always JSON, never a stream. With a project token the tools are for its project; with a user token each takes the project as an argument.",
  requestBody: { required: true, content: { "application/json": MESSAGE } },
  responses: {
    200: { description: "The response to a request", content: { "application/json": MESSAGE } },
    202: { description: "A notification was accepted", content: {} },
  },
};
