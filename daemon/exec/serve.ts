import { randomBytes } from "node:crypto";
import type { ServerWebSocket } from "bun";
import { CHUNK_MAX, EXEC_CLOSE, WINDOW } from "../../src/contract/exec-stream.ts";
import type { Address } from "../../src/splice/upstream.ts";
import { isSameSecret } from "../same-secret.ts";
import type { Client, Execution } from "./execution.ts";
import type { Executions } from "./executions.ts";

/** The WebSockets of commands. The daemon's listener forwards them here once it knows whose they are. */
export interface ExecServer {
  address: Address;
  /** The `Authorization` that the listener sends: the port is open to all programs in the sandbox. */
  authorization: string;
  stop(): void;
}

interface Attached {
  execution: Execution;
  has: { stdout: number; stderr: number };
  client: Client | null;
}

/** Seconds without a message or a pong. */
const SILENT_S = 60;

export function serveExecutions(executions: Pick<Executions, "get">): ExecServer {
  const authorization = `Bearer ${randomBytes(32).toString("base64url")}`;
  const listening = Bun.serve<Attached>({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request, server): Response | undefined {
      if (!isSameSecret(request.headers.get("authorization") ?? "", authorization))
        return new Response(null, { status: 401 });
      const { pathname, searchParams } = new URL(request.url);
      const execution = executions.get(pathname.slice(pathname.lastIndexOf("/") + 1));
      const has = { stdout: offsetOf(searchParams, "stdout"), stderr: offsetOf(searchParams, "stderr") };
      if (!execution) return new Response(null, { status: 404 });
      return server.upgrade(request, { data: { execution, has, client: null } })
        ? undefined
        : new Response(null, { status: 426 });
    },
    websocket: {
      maxPayloadLength: CHUNK_MAX + 1,
      // the window of both streams, and the messages between
      backpressureLimit: 4 * WINDOW,
      idleTimeout: SILENT_S,
      sendPings: true,
      open(socket) {
        const { execution, has } = socket.data;
        const client = clientOf(socket);
        socket.data.client = client;
        if (!execution.attach(client, has)) socket.close(EXEC_CLOSE.invalid);
      },
      message(socket, message) {
        const { execution, client } = socket.data;
        if (client && !execution.receive(client, message)) socket.close(EXEC_CLOSE.invalid);
      },
      close({ data: { execution, client } }) {
        if (client) execution.detach(client);
      },
    },
  });
  return {
    address: { hostname: "127.0.0.1", port: listening.port ?? 0 },
    authorization,
    stop: () => void listening.stop(true),
  };
}

function clientOf(socket: ServerWebSocket<Attached>): Client {
  return {
    send: (message) => void socket.send(message),
    close: (code) => socket.close(code),
  };
}

/** Bytes that a client has; what is not a number is none. */
function offsetOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
