import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { listenRaw, openRelay, type Relay, type RelayAddress } from "../../splice/relay.ts";
import { outletsFolder } from "./folder.ts";
import { OUTLETS, type Outlet } from "./network.ts";
import { createProxy } from "./proxy.ts";

export interface OutletOptions {
  dataDir: string;
  /** Where the API listens. */
  api(): { hostname: string; port: number };
  /** `SVC_SANDBOX_API_URL`. */
  apiUrl: string | null;
  /** The operator's model gateway; null: there is none. */
  modelUrl: string | null;
}

/** Of all sandboxes together; each daemon bounds those of its own, so that no sandbox uses up what others need. */
const CONNECTIONS_MAX = 16_384;

/** The ways out of this machine's sandboxes: unix sockets on which this server listens. */
export interface Outlets {
  /** Listens, once; a server that comes after one that was killed takes its sockets over. */
  open(): Promise<void>;
  close(): void;
}

export function createOutlets(options: OutletOptions): Outlets {
  const folder = outletsFolder(options.dataDir);
  let relays: Relay[] = [];
  let opening: Promise<void> | null = null;

  /** Under another name first: a socket in the place may be of a server that was killed. */
  async function at(outlet: Outlet, listen: (place: RelayAddress) => Promise<Relay>): Promise<void> {
    const draft = join(folder, `${OUTLETS[outlet].socket}.${randomBytes(2).toString("hex")}`);
    relays.push(await listen({ path: draft }));
    // only what is mounted into a sandbox sees the folder: the data folder is closed to others
    await chmod(draft, 0o666);
    await rename(draft, join(folder, OUTLETS[outlet].socket));
  }

  async function openAll(): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o755 });
    await at("api", (place) => openRelay(place, () => apiOf(options), CONNECTIONS_MAX));
    const proxy = createProxy({ exceptions: [options.apiUrl, options.modelUrl].flatMap(originOf) });
    await at("proxy", (place) => listenRaw(place, proxy, CONNECTIONS_MAX));
    const models = placeOf(options.modelUrl);
    if (models) await at("models", (place) => openRelay(place, () => models, CONNECTIONS_MAX));
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

function apiOf({ api, apiUrl }: OutletOptions): { host: string; port: number } {
  const named = placeOf(apiUrl);
  if (named) return named;
  const { hostname, port } = api();
  return { host: hostname === "0.0.0.0" || hostname === "::" ? "127.0.0.1" : hostname, port };
}

/** Where a URL without TLS leads; null for others. */
function placeOf(url: string | null): { host: string; port: number } | null {
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
