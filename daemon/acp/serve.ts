import { parseJson } from "../../src/contract/json.ts";
import { isSameSecret } from "../same-secret.ts";
import type { Conversation } from "./conversation.ts";
import { eventStream } from "./event-stream.ts";
import { failure, Routes } from "./routes.ts";
import type { AcpSettings } from "./settings.ts";
import type { Turns } from "./turns.ts";

const BODY_MAX_BYTES = 32 * 1024 * 1024;

/**
 * Answers for the runtime, on loopback: its routes and its stream of events.
 * @returns stops the server
 */
export function serveRuntime(
  settings: AcpSettings,
  conversation: Conversation,
  turns: Turns,
): () => Promise<void> {
  const routes = new Routes(conversation, turns);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: settings.port,
    idleTimeout: 0,
    maxRequestBodySize: BODY_MAX_BYTES,
    async fetch(request) {
      if (!isSameSecret(request.headers.get("authorization") ?? "", settings.authorization))
        return failure(401, "Unauthorized");
      const { pathname, searchParams } = new URL(request.url);
      const route = `${request.method} ${pathname.replace(/\/+$/, "")}`;
      if (route === "GET /event") return eventStream(conversation, request.signal);
      const body = request.method === "POST" ? parseJson(await request.text()) : null;
      const limit = Number(searchParams.get("limit")) || 0;
      return (await routes.respond(route, body, limit)) ?? failure(404, "NotFound");
    },
    error: () => failure(500, "InternalError"),
  });
  return async () => await server.stop(true);
}
