import { DAEMON_PORT } from "../../contract/daemon.ts";
import { CLOSED_IPV4 } from "../closed-addresses.ts";
import { SandboxError } from "../provider.ts";
import type { Engine } from "./engine.ts";
import type { HostNetwork } from "./host-network.ts";
import { LABEL, type Labels } from "./names.ts";
import type { Network } from "./network.ts";
import { readUntil } from "./output.ts";

/** Where a sandbox reaches the API: an address or a name, and a port. */
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
  /** Null: no access to the API. */
  api: ApiAddress | null;
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
  const { network, api } = spec;
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
        `NETWORK_RULES=${networkRules(network, spec.hostNetwork, spec.daemonPort)}`,
        `API_HOST=${api?.hostname ?? ""}`,
        `API_PORT=${api?.port ?? ""}`,
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
        ...(api?.hostname === "host.docker.internal" &&
          !isForwarded && { ExtraHosts: ["host.docker.internal:host-gateway"] }),
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
 * The nft rules of a sandbox's network namespace: outgoing only to the internet, the API and the name servers; incoming
 * only from this machine to the daemon. Docker's own rules stay.
 * @param daemonPort where the daemon listens; null while an image is built: no incoming connections
 */
export function networkRules(
  network: Network,
  { addresses, nameServers }: HostNetwork,
  daemonPort: number | null,
): string {
  const reject = "reject with icmpx type admin-prohibited";
  return `
table inet svc {
  set api { type ipv4_addr . inet_service; }
  set names { type ipv4_addr; ${elements(nameServers)} }
  set forbidden { type ipv4_addr; flags interval; auto-merge; ${elements([...CLOSED_IPV4, ...addresses])} }
  chain out {
    type filter hook output priority 0; policy drop;
    oifname "lo" accept
    meta nfproto ipv6 ${reject}
    ct state established,related accept
    ip daddr . tcp dport @api accept
    ip daddr @names udp dport 53 accept
    ip daddr @names tcp dport 53 accept
    ip daddr @forbidden ${reject}
    accept
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

function elements(items: readonly string[]): string {
  return items.length > 0 ? `elements = { ${items.join(", ")} };` : "";
}

/** Printed when the rules are set. */
export const RULES_SET = "svc: network rules set";

/**
 * The script of the container, for sh: resolves the API's addresses as the sandbox will, sets the rules, and sleeps. It
 * reads `NETWORK_RULES`, `API_HOST` and `API_PORT`; the last two are empty without access to the API.
 */
export const NAMESPACE_SCRIPT = `
set -eu
command -v nft >/dev/null || { echo "svc: the image has no nft"; exit 1; }
places=
if [ -n "$API_HOST" ]; then
  addresses=$(getent ahostsv4 "$API_HOST" | cut -d " " -f 1 | sort -u) || addresses=
  [ -n "$addresses" ] || { echo "svc: the name of SVC_SANDBOX_API_URL has no IPv4 address in a sandbox"; exit 1; }
  for address in $addresses; do places="$places
add element inet svc api { $address . $API_PORT }"; done
fi
printf '%s\\n%s\\n' "$NETWORK_RULES" "$places" | nft -f -
echo "${RULES_SET}"
exec sleep infinity
`;
