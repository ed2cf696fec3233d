import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { listenRaw, openRelay, type Relay, type RelayAddress } from "../../splice/relay.ts";
import { egressFolder } from "./folder.ts";
import { EGRESS_SOCKETS, type EgressSocket } from "./network.ts";
import { createProxy } from "./proxy.ts";

export interface EgressOptions {
  dataDir: string;
  /** Where the API listens. */
  api(): { hostname: string; port: number };
  /** `SVC_SANDBOX_API_URL`. */
  apiUrl: string | null;
}

/** Connections of all sandboxes; each daemon limits those of its sandbox, so that none can use up the capacity. */
const CONNECTIONS_MAX = 16_384;

/** The unix sockets through which this machine's sandboxes reach the network. */
export interface Egress {
  /** Listens, once. Replaces the sockets of a server that was killed. */
  open(): Promise<void>;
  close(): void;
}

export function createEgress(options: EgressOptions): Egress {
  const folder = egressFolder(options.dataDir);
  let relays: Relay[] = [];
  let opening: Promise<void> | null = null;

  /** Listens under a temporary name and renames the socket, since the file of a killed server may exist. */
  async function listenAt(name: EgressSocket, listen: (at: RelayAddress) => Promise<Relay>): Promise<void> {
    const temporary = join(folder, `${EGRESS_SOCKETS[name].socket}.${randomBytes(2).toString("hex")}`);
    relays.push(await listen({ path: temporary }));
    // only sandboxes, which mount the folder, have access to it: the data folder is private
    await chmod(temporary, 0o666);
    await rename(temporary, join(folder, EGRESS_SOCKETS[name].socket));
  }

  async function openAll(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o755 });
    await listenAt("api", (address) => openRelay(address, () => apiOf(options), CONNECTIONS_MAX));
    const proxy = createProxy({ exceptions: originOf(options.apiUrl) });
    await listenAt("proxy", (address) => listenRaw(address, proxy, CONNECTIONS_MAX));
  }

  return {
    open() {
      opening ??= openAll().catch((error: unknown) => {
        opening = null;
        throw error;
      });
      return opening;
    },
    close() {
      for (const relay of relays) relay.close();
      relays = [];
      opening = null;
    },
  };
}

function apiOf({ api, apiUrl }: EgressOptions): { host: string; port: number } {
  const named = addressOf(apiUrl);
  if (named) return named;
  const { hostname, port } = api();
  return { host: hostname === "0.0.0.0" || hostname === "::" ? "127.0.0.1" : hostname, port };
}

/** Host and port of a URL without TLS; null for others. */
function addressOf(url: string | null): { host: string; port: number } | null {
  if (!url?.startsWith("http:")) return null;
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || 80 };
}

/** `host:port` of a URL with TLS. */
function originOf(url: string | null): string[] {
  if (!url?.startsWith("https:")) return [];
  const { hostname, port } = new URL(url);
  return [`${hostname}:${Number(port) || 443}`];
}
