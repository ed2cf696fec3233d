import { listenRaw, type Relay } from "../../splice/relay.ts";
import { createProxy } from "../egress/proxy.ts";
import { resolveHost } from "../egress/resolve.ts";
import type { ProviderOptions } from "../provider.ts";
import { atFreePort } from "./free-port.ts";

/**
 * The egress proxies of sandboxes whose policy is not `open`, each on this machine's address in the sandbox's own
 * network: the only way out of it.
 */
export interface ProxyListeners {
  /** Listens for a session's sandbox, on a free port. @throws when the address is not this machine's */
  open(sessionId: string, hostname: string): Promise<{ hostname: string; port: number }>;
  /** Listens again at the `address:port` of an earlier process, unless a listener is open. */
  reopen(sessionId: string, address: string): void;
  close(sessionId: string): Promise<void>;
  closeAll(): Promise<void>;
}

/** As of the API's listeners, and above theirs. */
const FIRST_PORT = 22_104;
/** Connections of one sandbox: more than a browser and a package manager open together. */
const CONNECTIONS_MAX = 1_024;
/** The name of the server's machine in Docker Desktop, and in containers with an entry for it. */
const HOST_NAME = "host.docker.internal";

export function createProxyListeners({
  egress,
  apiUrl,
}: Pick<ProviderOptions, "egress" | "apiUrl">): ProxyListeners {
  const relays = new Map<string, Promise<Relay | null>>();
  const { resolve = resolveHost } = egress;
  const gate = {
    ...egress,
    resolve: async (host: string) => (host === HOST_NAME ? ["127.0.0.1"] : await resolve(host)),
  };
  const exceptions = exceptionsOf(apiUrl);

  return {
    async open(sessionId, hostname) {
      const { port, listener } = await atFreePort(FIRST_PORT, (port) => listenAt(sessionId, hostname, port));
      relays.set(sessionId, Promise.resolve(listener));
      return { hostname, port };
    },
    reopen(sessionId, address) {
      const [, hostname, port] = /^([0-9.]{7,15}):(\d{1,5})$/.exec(address) ?? [];
      if (hostname === undefined || relays.has(sessionId)) return;
      // on failure another server of this installation listens there, or the network is being removed
      const opening = listenAt(sessionId, hostname, Number(port)).catch(() => {
        relays.delete(sessionId);
        return null;
      });
      relays.set(sessionId, opening);
    },
    close,
    async closeAll() {
      await Promise.all([...relays.keys()].map(close));
    },
  };

  async function close(sessionId: string): Promise<void> {
    const opening = relays.get(sessionId);
    relays.delete(sessionId);
    (await opening)?.close();
  }

  function listenAt(sessionId: string, host: string, port: number): Promise<Relay> {
    return listenRaw({ host, port }, createProxy({ sessionId, gate, exceptions }), CONNECTIONS_MAX);
  }
}

/** The API, if it has a URL of its own: sandboxes without name servers reach it through the proxy. */
function exceptionsOf(apiUrl: string | null): string[] {
  if (apiUrl === null) return [];
  const { hostname, port, protocol } = new URL(apiUrl);
  return [`${hostname}:${Number(port) || (protocol === "https:" ? 443 : 80)}`];
}
