import type { Decision } from "../../splice/connection.ts";
import type { RequestHead } from "../../splice/head.ts";
import { type Listener, listen } from "../../splice/listen.ts";
import type { ProviderOptions } from "../provider.ts";
import { atFreePort } from "./free-port.ts";

/** Listeners through which sandboxes reach the API, each on this machine's address in the sandbox's own network. */
export interface ApiListeners {
  /** Listens for a session's sandbox, on a free port. @throws when the address is not this machine's */
  open(sessionId: string, hostname: string): Promise<{ hostname: string; port: number }>;
  /** Listens again at the `address:port` of an earlier process, unless a listener is open. */
  reopen(sessionId: string, address: string): void;
  close(sessionId: string): Promise<void>;
  closeAll(): Promise<void>;
}

/**
 * The address belongs to the sandbox's network, so a port is in use only where a program listens on all addresses. Below
 * the ephemeral ports, so that it is free again after a restart.
 */
export const API_PORT = 18_008;
/** The sandbox has ended by then, and its requests with it. */
const DRAIN_MS = 0;

export function createApiListeners(api: ProviderOptions["api"]): ApiListeners {
  const listeners = new Map<string, Listener>();

  return {
    async open(sessionId, hostname) {
      const { port, listener } = await atFreePort(API_PORT, (port) => listenAt(hostname, port));
      listeners.set(sessionId, listener);
      return { hostname, port };
    },
    reopen(sessionId, address) {
      const [, hostname, port] = /^([0-9.]{7,15}):(\d{1,5})$/.exec(address) ?? [];
      if (hostname === undefined || listeners.has(sessionId)) return;
      try {
        listeners.set(sessionId, listenAt(hostname, Number(port)));
      } catch {
        // another server of this installation listens there, or the network is being removed
      }
    },
    close,
    async closeAll() {
      await Promise.all([...listeners.keys()].map(close));
    },
  };

  async function close(sessionId: string): Promise<void> {
    const listener = listeners.get(sessionId);
    listeners.delete(sessionId);
    await listener?.stop(DRAIN_MS);
  }

  function listenAt(hostname: string, port: number): Listener {
    return listen({ hostname, port }, (head) => decide(head, api), explain);
  }
}

/** Allows only the public API, `/v1/`, both in the raw and in the normalized path. */
export function decide(head: RequestHead, api: ProviderOptions["api"]): Decision {
  const path = URL.parse(head.target, "http://api")?.pathname ?? "";
  if (!head.target.startsWith("/v1/") || !path.startsWith("/v1/")) {
    return { answer: explain(404, "Sandboxes can use only the API below /v1/.") };
  }
  return { to: loopbackOf(api()), head: serialize(head) };
}

/** An API that listens on all interfaces also listens on loopback. */
function loopbackOf({ hostname, port }: { hostname: string; port: number }): {
  hostname: string;
  port: number;
} {
  if (hostname === "0.0.0.0") return { hostname: "127.0.0.1", port };
  return hostname === "::" ? { hostname: "::1", port } : { hostname, port };
}

function serialize({ method, target, version, fields }: RequestHead): string {
  const lines = [
    `${method} ${target} HTTP/${version}`,
    ...fields.map(({ name, value }) => `${name}: ${value}`),
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

function explain(status: number, error: string) {
  const code = status === 404 ? "not_found" : "bad_request";
  return { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify({ error, code }) };
}
