import { DAEMON_PORT } from "../../contract/daemon.ts";
import { CLOSED_IPV4 } from "../closed-addresses.ts";
import { SandboxError } from "../provider.ts";
import type { Engine } from "./engine.ts";
import { LABEL, type Labels } from "./names.ts";
import type { Network } from "./network.ts";
import { readUntil } from "./output.ts";
import type { Surroundings } from "./surroundings.ts";

/** Where a sandbox finds the API: an address or a name, and a port. */
export interface ApiPlace {
  hostname: string;
  port: number;
}

interface FenceSpec {
  name: string;
  /** An image of svc's own: what runs here may change the rules. */
  image: string;
  labels: Labels;
  network: Network;
  surroundings: Surroundings;
  /** Null: nobody asks the API. */
  api: ApiPlace | null;
  /** Where the daemon listens; null: nothing comes in. */
  daemonPort: number | null;
}

/** Setting rules takes a tenth of a second, finding a name's address as long as name servers take. */
const FENCED_MS = 30_000;

/**
 * Starts the container that owns the network namespace: it sets the rules there and then only sleeps. Whoever joins the
 * namespace has no right to change them. Nothing of the machine itself is changed.
 * @returns its id, and a promise that settles once the rules hold
 * @throws SandboxError
 */
export async function startFence(
  engine: Engine,
  spec: FenceSpec,
  signal: AbortSignal,
): Promise<{ id: string; holds: Promise<void> }> {
  const { isForwarded } = await engine.facts();
  const { network, api } = spec;
  const port = `${DAEMON_PORT}/tcp`;
  const isPublished = isForwarded && spec.daemonPort !== null;
  const container = await engine.ask("make the network's fence", (docker, abortSignal) =>
    docker.createContainer({
      name: spec.name,
      Image: spec.image,
      Entrypoint: ["/bin/sh", "-c", FENCE_SCRIPT],
      Cmd: [],
      User: "0:0",
      WorkingDir: "/",
      // the sandbox's too: it shares them
      Hostname: "sandbox",
      Env: [
        `FENCE_RULES=${fenceRules(network, spec.surroundings, spec.daemonPort)}`,
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
        Memory: FENCE_BYTES,
        MemorySwap: FENCE_BYTES,
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
  const start = engine.ask("start the network's fence", (_, abortSignal) => container.start({ abortSignal }));
  const holds = start.then(() => untilFenced(engine, container.id, signal));
  // whoever waits for it hears of it; nobody does when something else has failed by then
  holds.catch(() => {});
  return { id: container.id, holds };
}

/** A shell, nft and a list of rules. */
const FENCE_BYTES = 64 * 1024 * 1024;
const WORDS_MAX_BYTES = 8 * 1024;

async function untilFenced(engine: Engine, id: string, signal: AbortSignal): Promise<void> {
  const what = "fence the sandbox's network";
  const words = await engine.ask(
    what,
    async (docker, abortSignal) => {
      const stream = await docker
        .getContainer(id)
        .logs({ stdout: true, stderr: true, follow: true, abortSignal });
      return await readUntil(stream, FENCED, WORDS_MAX_BYTES);
    },
    { ms: FENCED_MS, signal },
  );
  if (words.includes(FENCED)) return;
  const reason = /svc: (.*)/.exec(words)?.[1] ?? words.trim().split("\n").at(-1)?.slice(0, 200);
  throw new SandboxError(`Docker did not ${what}: ${reason || "it ended without a word"}.`);
}

/**
 * The rules of a sandbox's network namespace, for nft: out to the internet, to the API and to the name servers, and
 * nowhere else; in from this machine to the daemon, and nothing else. Docker's own rules there are left alone.
 * @param daemonPort where the daemon listens; null while an image is built: nothing comes in
 */
export function fenceRules(
  network: Network,
  { addresses, nameServers }: Surroundings,
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

/** The fence says this once its rules hold. */
export const FENCED = "svc: fenced";

/**
 * What the fence runs, a program for sh: finds the API's addresses as the sandbox will, sets the rules, and sleeps. It
 * reads `FENCE_RULES`, `API_HOST` and `API_PORT`; the last two are empty when nobody asks the API.
 */
export const FENCE_SCRIPT = `
set -eu
command -v nft >/dev/null || { echo "svc: the image has no nft"; exit 1; }
places=
if [ -n "$API_HOST" ]; then
  addresses=$(getent ahostsv4 "$API_HOST" | cut -d " " -f 1 | sort -u) || addresses=
  [ -n "$addresses" ] || { echo "svc: the name of SVC_SANDBOX_API_URL has no IPv4 address in a sandbox"; exit 1; }
  for address in $addresses; do places="$places
add element inet svc api { $address . $API_PORT }"; done
fi
printf '%s\\n%s\\n' "$FENCE_RULES" "$places" | nft -f -
echo "${FENCED}"
exec sleep infinity
`;
