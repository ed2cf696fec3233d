import type { Decision } from "../../splice/connection.ts";
import type { RequestHead } from "../../splice/head.ts";
import { type Listener, listen } from "../../splice/listen.ts";
import type { ProviderOptions } from "../provider.ts";

/** Where sandboxes reach the API: a listener of svc's on this machine's address in each sandbox's own network. */
export interface Doors {
  /** Opens a session's door, at a port of its own choice. @throws when the address is not this machine's */
  open(sessionId: string, hostname: string): { hostname: string; port: number };
  /** Opens the door that another process has left, `address:port`, unless one stands open there. */
  reopen(sessionId: string, place: string): void;
  close(sessionId: string): Promise<void>;
  closeAll(): Promise<void>;
}

/**
 * The address is the network's own, so this is taken only where somebody listens on every address. Below the ports that
 * the system gives to connections: after a restart it must be free again. Where sandboxes come by way of 127.0.0.1, each
 * has a port of its own: as many as there are networks.
 */
const FIRST_PORT = 18_008;
const PORTS = 4096;
/** The sandbox is gone by then, and with it whoever waits for an answer. */
const DRAIN_MS = 0;

export function createDoors(api: ProviderOptions["api"]): Doors {
  const doors = new Map<string, Listener>();

  return {
    open(sessionId, hostname) {
      for (let port = FIRST_PORT; ; port++) {
        try {
          doors.set(sessionId, standAt(hostname, port));
          return { hostname, port };
        } catch (error) {
          if (!isTaken(error) || port >= FIRST_PORT + PORTS) throw error;
        }
      }
    },
    reopen(sessionId, place) {
      const [, hostname, port] = /^([0-9.]{7,15}):(\d{1,5})$/.exec(place) ?? [];
      if (hostname === undefined || doors.has(sessionId)) return;
      try {
        doors.set(sessionId, standAt(hostname, Number(port)));
      } catch {
        // another server of this installation keeps it open, or the network is just being taken away
      }
    },
    close,
    async closeAll() {
      await Promise.all([...doors.keys()].map(close));
    },
  };

  async function close(sessionId: string): Promise<void> {
    const door = doors.get(sessionId);
    doors.delete(sessionId);
    await door?.stop(DRAIN_MS);
  }

  function standAt(hostname: string, port: number): Listener {
    return listen({ hostname, port }, (head) => decide(head, api), explain);
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}

/** Only the public API, `/v1/`, whichever way the path is read. */
export function decide(head: RequestHead, api: ProviderOptions["api"]): Decision {
  const read = URL.parse(head.target, "http://api")?.pathname ?? "";
  if (!head.target.startsWith("/v1/") || !read.startsWith("/v1/")) {
    return { answer: explain(404, "A sandbox reaches the API below /v1/ only.") };
  }
  return { to: local(api()), head: written(head) };
}

/** An API that listens everywhere listens on loopback too. */
function local({ hostname, port }: { hostname: string; port: number }): { hostname: string; port: number } {
  if (hostname === "0.0.0.0") return { hostname: "127.0.0.1", port };
  return hostname === "::" ? { hostname: "::1", port } : { hostname, port };
}

function written({ method, target, version, fields }: RequestHead): string {
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
