import { isIPv4 } from "node:net";
import type { Engine } from "./engine.ts";
import { LABEL, type Labels } from "./names.ts";
import { runToEnd } from "./run-to-end.ts";

/** The network of the engine's machine, for the network rules of sandboxes. */
export interface HostNetwork {
  /** Its own addresses, IPv4. */
  addresses: readonly string[];
  /** The name servers of its containers, outside of the machine. */
  nameServers: readonly string[];
}

/** A machine's addresses rarely change; those of laptops are private, and so closed anyway. */
const CACHE_MS = 5 * 60_000;
/** Limits of the files that are read. */
const NAME_SERVERS_MAX = 8;
const ADDRESSES_MAX = 4096;

/** Reads the network of the engine's machine in two small containers, and caches it. */
export function createHostNetworkReader(
  engine: Engine,
  labels: Labels,
): (image: string) => Promise<HostNetwork> {
  let cached: { at: number; network: Promise<HostNetwork> } | null = null;
  return (image) => {
    if (!cached || performance.now() - cached.at > CACHE_MS) {
      const fresh = { at: performance.now(), network: readHostNetwork(engine, labels, image) };
      fresh.network.catch(() => {
        if (cached === fresh) cached = null;
      });
      cached = fresh;
    }
    return cached.network;
  };
}

async function readHostNetwork(engine: Engine, labels: Labels, image: string): Promise<HostNetwork> {
  const read = (network: string, path: string) =>
    runToEnd(engine, `read its ${network} network`, {
      Image: image,
      Entrypoint: ["cat", path],
      Labels: { ...labels, [LABEL.role]: "scratch" },
      HostConfig: { NetworkMode: network },
    });
  const [routes, resolver] = await Promise.all([
    read("host", "/proc/net/fib_trie"),
    // on the default bridge, resolv.conf has the name servers that the engine's resolver forwards to
    read("bridge", "/etc/resolv.conf").catch(() => ""),
  ]);
  return { addresses: ownAddresses(routes), nameServers: nameServersOf(resolver) };
}

/** The machine's own addresses in the kernel's routes: `|-- 10.0.0.5`, then `/32 host LOCAL`. */
export function ownAddresses(fibTrie: string): string[] {
  const found = new Set<string>();
  let last = "";
  for (const line of fibTrie.split("\n")) {
    last = /\|-- (\S+)/.exec(line)?.[1] ?? last;
    if (/\/32 host LOCAL/.test(line) && isIPv4(last) && !last.startsWith("127.")) found.add(last);
  }
  return [...found].slice(0, ADDRESSES_MAX);
}

export function nameServersOf(resolvConf: string): string[] {
  return [...resolvConf.matchAll(/^nameserver\s+(\S+)/gm)]
    .map(([, address = ""]) => address)
    .filter((address) => isIPv4(address) && !address.startsWith("127."))
    .slice(0, NAME_SERVERS_MAX);
}
