import { DAEMON_PORT } from "../../contract/daemon.ts";
import { CLOSED_IPV4 } from "../closed-addresses.ts";
import { SandboxError } from "../provider.ts";
import type { Engine } from "./engine.ts";
import type { HostNetwork } from "./host-network.ts";
import { LABEL, type Labels } from "./names.ts";
import type { Network } from "./network.ts";
import { readUntil } from "./output.ts";

/** Where a sandbox reaches the API or its proxy: an address or a name, and a port. */
export interface ApiAddress {
  hostname: string;
  port: number;
}

interface NamespaceSpec {
  name: string;
  /** svc's own image, since this container can change the rules. */
  image: string;
  labels: Labels;
  network: Network;
  hostNetwork: HostNetwork;
  /** Names of the loopback interface. */
  hosts: readonly string[];
  /** Null: no access to the API. */
  api: ApiAddress | null;
  /** The only way out; null: the sandbox reaches the public internet. */
  proxy: ApiAddress | null;
  /** Where the daemon listens; null: no incoming connections. */
  daemonPort: number | null;
}

/** Setting the rules takes a tenth of a second, plus the time to resolve a name. */
const RULES_MS = 30_000;
/** On a busy machine; longer than a resolver that does not answer takes. */
const RULES_LONGEST_MS = 3 * 60_000;

/**
 * Starts the container that owns the network namespace: it sets the firewall rules and then sleeps. Containers that join
 * the namespace have no right to change the rules. The machine's own rules are not changed.
 * @returns its id, and a promise that resolves when the rules are set
 * @throws SandboxError
 */
export async function startNetworkNamespace(
  engine: Engine,
  spec: NamespaceSpec,
  signal: AbortSignal,
): Promise<{ id: string; ready: Promise<void> }> {
  const { isForwarded } = await engine.properties();
  const { network, api, proxy } = spec;
  const port = `${DAEMON_PORT}/tcp`;
  const isPublished = isForwarded && spec.daemonPort !== null;
  const container = await engine.call("create the network namespace", (docker, abortSignal) =>
    docker.createContainer({
      name: spec.name,
      Image: spec.image,
      Entrypoint: ["/bin/sh", "-c", NAMESPACE_SCRIPT],
      Cmd: [],
      User: "0:0",
      WorkingDir: "/",
      // the sandbox shares it
      Hostname: "sandbox",
      Env: [
        `NETWORK_RULES=${networkRules(network, spec.hostNetwork, spec.daemonPort, proxy === null)}`,
        `API_HOST=${api?.hostname ?? ""}`,
        `API_PORT=${api?.port ?? ""}`,
        `PROXY_HOST=${proxy?.hostname ?? ""}`,
        `PROXY_PORT=${proxy?.port ?? ""}`,
      ],
      Labels: { ...spec.labels, [LABEL.role]: "fence" },
      ...(isPublished && { ExposedPorts: { [port]: {} } }),
      HostConfig: {
        NetworkMode: network.id,
        CapDrop: ["ALL"],
        CapAdd: ["NET_ADMIN"],
        SecurityOpt: ["no-new-privileges"],
        ReadonlyRootfs: true,
        PidsLimit: 32,
        Memory: MEMORY_BYTES,
        MemorySwap: MEMORY_BYTES,
        LogConfig: { Type: "json-file", Config: { "max-size": "64k", "max-file": "1" } },
        ...(isPublished && { PortBindings: { [port]: [{ HostIp: "127.0.0.1", HostPort: "" }] } }),
        ExtraHosts: [
          ...spec.hosts.map((name) => `${name}:127.0.0.1`),
          // Docker Desktop's name servers know the name, but a sandbox with a proxy has none
          ...([api, proxy].some((place) => place?.hostname === "host.docker.internal") &&
          (!isForwarded || proxy !== null)
            ? ["host.docker.internal:host-gateway"]
            : []),
        ],
      },
      NetworkingConfig: {
        EndpointsConfig: { [network.id]: { IPAMConfig: { IPv4Address: network.member } } },
      },
      abortSignal,
    }),
  );
  const start = engine.call("start the network namespace", (_, abortSignal) =>
    container.start({ abortSignal }),
  );
  const ready = start.then(() => waitForRules(engine, container.id, signal));
  // the caller may have failed before it awaits this
  ready.catch(() => {});
  return { id: container.id, ready };
}

/** A shell, nft and a list of rules. */
const MEMORY_BYTES = 64 * 1024 * 1024;
const OUTPUT_MAX_BYTES = 8 * 1024;

async function waitForRules(engine: Engine, id: string, signal: AbortSignal): Promise<void> {
  const what = "set the sandbox's network rules";
  const output = await engine.call(
    what,
    async (docker, abortSignal) => {
      const stream = await docker
        .getContainer(id)
        .logs({ stdout: true, stderr: true, follow: true, abortSignal });
      return await readUntil(stream, RULES_SET, OUTPUT_MAX_BYTES);
    },
    { ms: RULES_MS, longestMs: RULES_LONGEST_MS, signal },
  );
  if (output.includes(RULES_SET)) return;
  const reason = /svc: (.*)/.exec(output)?.[1] ?? output.trim().split("\n").at(-1)?.slice(0, 200);
  throw new SandboxError(`Docker did not ${what}: ${reason || "it ended without output"}.`);
}

/**
 * The nft rules of a sandbox's network namespace: outgoing only to the internet, the API and the name servers, or, if it is
 * not open, only to the API and the proxy; incoming only from this machine to the daemon. Docker's own rules stay.
 * @param daemonPort where the daemon listens; null while an image is built: no incoming connections
 */
export function networkRules(
  network: Network,
  { addresses, nameServers }: HostNetwork,
  daemonPort: number | null,
  isOpen: boolean,
): string {
  const reject = "reject with icmpx type admin-prohibited";
  const internet = `
    ip daddr @names udp dport 53 accept
    ip daddr @names tcp dport 53 accept
    ip daddr @forbidden ${reject}
    accept`;
  return `
table inet svc {
  set api { type ipv4_addr . inet_service; }
  set names { type ipv4_addr; ${elements(nameServers)} }
  set forbidden { type ipv4_addr; flags interval; auto-merge; ${elements([...CLOSED_IPV4, ...addresses])} }
  chain out {
    type filter hook output priority 0; policy drop;
    ${isOpen ? "" : `ip daddr ${ENGINE_RESOLVER} ${reject}`}
    oifname "lo" accept
    meta nfproto ipv6 ${reject}
    ct state established,related accept
    ip daddr . tcp dport @api accept
    ${isOpen ? internet.trim() : reject}
  }
  chain in {
    type filter hook input priority 0; policy drop;
    iifname "lo" accept
    ct state established,related accept
    ${daemonPort === null ? "" : `ip saddr ${network.gateway} tcp dport ${daemonPort} accept`}
  }
  chain through { type filter hook forward priority 0; policy drop; }
}
`;
}

/** The engine's resolver on the loopback interface of containers: it forwards names to the machine's name servers. */
const ENGINE_RESOLVER = "127.0.0.11";

function elements(items: readonly string[]): string {
  return items.length > 0 ? `elements = { ${items.join(", ")} };` : "";
}

/** Printed when the rules are set. */
export const RULES_SET = "svc: network rules set";

/**
 * The script of the container, for sh: resolves the addresses of the API and the proxy as the sandbox will, sets the
 * rules, and sleeps. It reads `NETWORK_RULES`, and `API_HOST`, `API_PORT`, `PROXY_HOST` and `PROXY_PORT`, which may be empty.
 */
export const NAMESPACE_SCRIPT = `
set -eu
command -v nft >/dev/null || { echo "svc: the image has no nft"; exit 1; }
places=
allow() {
  [ -n "$1" ] || return 0
  addresses=$(getent ahostsv4 "$1" | cut -d " " -f 1 | sort -u) || addresses=
  [ -n "$addresses" ] || { echo "svc: the name of SVC_SANDBOX_API_URL has no IPv4 address in a sandbox"; exit 1; }
  for address in $addresses; do places="$places
add element inet svc api { $address . $2 }"; done
}
allow "$API_HOST" "$API_PORT"
allow "$PROXY_HOST" "$PROXY_PORT"
printf '%s\\n%s\\n' "$NETWORK_RULES" "$places" | nft -f -
echo "${RULES_SET}"
exec sleep infinity
`;
