import { isIPv4 } from "node:net";
import type { Engine } from "./engine.ts";
import { LABEL, type Labels } from "./names.ts";
import { runToEnd } from "./run-to-end.ts";

/** What the engine's machine is like, as far as sandboxes have to be kept from it. */
export interface Surroundings {
  /** Its own addresses, IPv4. */
  addresses: readonly string[];
  /** The name servers that its containers ask, outside of the machine. */
  nameServers: readonly string[];
}

/** A machine's addresses change when it moves to another network; a laptop's are private ones then, which is known. */
const KEPT_MS = 5 * 60_000;
/** More are no list of name servers; and a machine has fewer addresses than this. */
const NAME_SERVERS_MAX = 8;
const ADDRESSES_MAX = 4096;

/** Looks at the engine's machine through two small containers, and keeps what it saw for a while. */
export function createLookout(engine: Engine, labels: Labels): (image: string) => Promise<Surroundings> {
  let seen: { at: number; what: Promise<Surroundings> } | null = null;
  return (image) => {
    if (!seen || performance.now() - seen.at > KEPT_MS) {
      const look = { at: performance.now(), what: lookAround(engine, labels, image) };
      look.what.catch(() => {
        if (seen === look) seen = null;
      });
      seen = look;
    }
    return seen.what;
  };
}

async function lookAround(engine: Engine, labels: Labels, image: string): Promise<Surroundings> {
  const read = (network: string, path: string) =>
    runToEnd(engine, `look at its ${network} network`, {
      Image: image,
      Entrypoint: ["cat", path],
      Labels: { ...labels, [LABEL.role]: "scratch" },
      HostConfig: { NetworkMode: network },
    });
  const [routes, resolver] = await Promise.all([
    read("host", "/proc/net/fib_trie"),
    // a bridge without the engine's own name server shows which servers that one asks
    read("bridge", "/etc/resolv.conf").catch(() => ""),
  ]);
  return { addresses: ownAddresses(routes), nameServers: nameServersOf(resolver) };
}

/** Of the kernel's routes, what is delivered to the machine itself: `|-- 10.0.0.5`, then `/32 host LOCAL`. */
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
