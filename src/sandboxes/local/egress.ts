import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { listenRaw, openRelay, type Relay, type RelayAddress } from "../../splice/relay.ts";
import type { EgressGate } from "../egress/gate.ts";
import { createProxy } from "../egress/proxy.ts";
import { egressFolder, folderOf } from "./folder.ts";
import { EGRESS_SOCKETS, type EgressSocket } from "./network.ts";

export interface EgressOptions {
  dataDir: string;
  /** Where the API listens. */
  api(): { hostname: string; port: number };
  /** `SVC_SANDBOX_API_URL`. */
  apiUrl: string | null;
  egress: EgressGate;
}

/** Connections of one sandbox: the limit of its daemon is lower. */
const CONNECTIONS_MAX = 1_024;

/** The unix sockets through which the sandboxes of this machine reach the network: each has its own. */
export interface Egress {
  /** Listens for a sandbox, once. Replaces the sockets of a server that was killed. */
  open(sessionId: string): Promise<void>;
  close(sessionId: string): Promise<void>;
  closeAll(): Promise<void>;
}

export function createEgress(options: EgressOptions): Egress {
  const opened = new Map<string, Promise<Relay[]>>();

  async function close(sessionId: string): Promise<void> {
    const relays = await opened.get(sessionId)?.catch(() => []);
    opened.delete(sessionId);
    for (const relay of relays ?? []) relay.close();
  }

  return {
    async open(sessionId) {
      const opening = opened.get(sessionId) ?? openAll(options, sessionId);
      opened.set(sessionId, opening);
      await opening.catch((error: unknown) => {
        opened.delete(sessionId);
        throw error;
      });
    },
    close,
    async closeAll() {
      await Promise.all([...opened.keys()].map(close));
    },
  };
}

async function openAll(options: EgressOptions, sessionId: string): Promise<Relay[]> {
  const folder = folderOf(options.dataDir, sessionId).egress;
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const { apiUrl, egress: gate } = options;
  const proxy = createProxy({ sessionId, gate, exceptions: originOf(apiUrl) });
  return await Promise.all([
    listenAt(options, folder, "api", (at) => openRelay(at, () => apiOf(options), CONNECTIONS_MAX)),
    listenAt(options, folder, "proxy", (at) => listenRaw(at, proxy, CONNECTIONS_MAX)),
  ]);
}

/**
 * Listens under a temporary name and moves the socket into its folder: the file of a killed server may exist there, and
 * the path that a server listens at is limited to about a hundred bytes.
 */
async function listenAt(
  { dataDir }: EgressOptions,
  folder: string,
  name: EgressSocket,
  listen: (at: RelayAddress) => Promise<Relay>,
): Promise<Relay> {
  const temporary = join(egressFolder(dataDir), `.${randomBytes(4).toString("hex")}`);
  const relay = await listen({ path: temporary });
  // only the sandbox, which mounts the folder, has access to it: the data folder is private
  await chmod(temporary, 0o666);
  await rename(temporary, join(folder, EGRESS_SOCKETS[name].socket));
  return relay;
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
