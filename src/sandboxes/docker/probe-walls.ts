import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { listenRaw } from "../../splice/relay.ts";
import { SandboxError, type SandboxLimits } from "../provider.ts";
import { API_PORT } from "./api-listeners.ts";
import { sandboxWalls } from "./container.ts";
import { endAll } from "./end.ts";
import type { Engine } from "./engine.ts";
import { atFreePort } from "./free-port.ts";
import type { HostNetwork } from "./host-network.ts";
import { LABEL } from "./names.ts";
import { createNetwork, machineIn } from "./network.ts";
import { startNetworkNamespace } from "./network-namespace.ts";

/** The dependencies of a probe. */
export interface ProbeContext {
  engine: Engine;
  installation: string;
  readHostNetwork(image: string): Promise<HostNetwork>;
}

type Protocol = "TCP" | "UDP";

/** A shell, and the kernel of a runtime that brings its own. */
const LIMITS: SandboxLimits = {
  cpus: 1,
  memoryBytes: 512 * 1024 ** 2,
  diskBytes: 64 * 1024 ** 2,
  processes: 256,
};
/** The discard service: nothing of svc listens there. */
const OTHER_PORT = 9;
/** Both attempts together; a virtual machine starts in seconds, and on a busy machine in many. */
const ATTEMPTS_MS = { ms: 60_000, longestMs: 3 * 60_000 };
/** Stray connections of a network that exists for seconds. */
const CONNECTIONS_MAX = 16;

/**
 * Tests whether the isolation of sandboxes holds with an OCI runtime. Runtimes with a network stack of their own, such as
 * gVisor's default and Kata, send packets past the rules of the network namespace. Old releases of gVisor let every user read
 * the environment of every process, and that of svc's daemon has the session's key.
 *
 * Two containers with the walls of a sandbox send a word to a listener of this process, on the machine's address in their
 * network. They differ in one thing: the rules of the first close the listener, and those of the second open it for TCP. So what
 * does not reach it is stopped by the rules, and not by a firewall or a mistake of the probe.
 * @returns why it does not hold, as a sentence; null if it holds
 * @throws SandboxError when a container cannot be started
 */
export async function probeWalls(
  context: ProbeContext,
  runtime: string,
  image: string,
): Promise<string | null> {
  const [closed, open] = await Promise.all([
    attemptsFrom(context, runtime, image, "closed"),
    attemptsFrom(context, runtime, image, "open"),
  ]);
  return verdictOf(runtime, closed, open);
}

/** What a container could do. */
export interface Attempts {
  /** By which protocols it reached the listener. */
  reached: ReadonlySet<Protocol>;
  /** 0, or READABLE, or another if the script failed. */
  exitCode: number;
}

/** @param closed of the container whose rules close the listener; @param open of the one whose rules open it for TCP */
export function verdictOf(runtime: string, closed: Attempts, open: Attempts): string | null {
  const leaks = [...closed.reached, ...(open.reached.has("UDP") ? ["UDP"] : [])];
  if (leaks.length > 0) {
    const by = [...new Set(leaks)].sort().join(", ");
    return `The network rules of sandboxes do not hold with the runtime "${runtime}": a container reached an address that they close (${by}). For gVisor, add "--network=host" to its runtimeArgs in Docker's daemon.json, and restart Docker. With another runtime that has its own network stack, such as Kata, svc cannot enforce them: choose another one with SVC_DOCKER_RUNTIME.`;
  }
  const exitCodes = [closed.exitCode, open.exitCode];
  if (exitCodes.includes(READABLE)) {
    return `With the runtime "${runtime}", an agent can read the environment of svc's daemon in its sandbox, which has the session's key. Install a newer release of the runtime, or choose another one with SVC_DOCKER_RUNTIME.`;
  }
  if (open.reached.has("TCP") && exitCodes.every((code) => code === 0)) return null;
  return `svc cannot verify the isolation of sandboxes with the runtime "${runtime}": a container did not reach an address of svc that its network rules open, or could not change its user. Check that containers start with it (docker run --runtime ${runtime}), and that no firewall closes their way to svc (docs/docker.md).`;
}

/** The exit code if the agent's user can read the environment of another user's process. */
export const READABLE = 3;
const OTHER_FAILURE = 4;

/** Sends the word by each protocol, and waits a moment for an answer. Then it looks for the word as the agent's user. */
const SCRIPT = `
for protocol in tcp udp; do
  timeout 10 bash -c 'exec 3<>"/dev/$0/$PROBE_HOST/$PROBE_PORT" && echo "$PROBE_WORD" >&3 && read -r -t 2 <&3' "$protocol"
done
agent="setpriv --reuid=1000 --regid=1000 --keep-groups"
$agent true || exit ${OTHER_FAILURE}
if $agent grep -qs "$PROBE_WORD" /proc/1/environ; then exit ${READABLE}; fi
exit 0
`;

/** Starts a container, and waits until it has ended. */
async function attemptsFrom(
  { engine, installation, readHostNetwork }: ProbeContext,
  runtime: string,
  image: string,
  rules: "closed" | "open",
): Promise<Attempts> {
  const id = randomUUID();
  const own = { [LABEL.installation]: installation, [LABEL.start]: id };
  const labels = { ...own, [LABEL.role]: "scratch" };
  const name = `svc-probe-${id}`;
  const hostNetwork = await readHostNetwork(image);
  let listener: Listener | null = null;
  try {
    const network = await createNetwork(engine, name, labels);
    const { hostname, inside } = await machineIn(engine, network);
    listener = await listenFor(id, hostname).catch(() => {
      throw new SandboxError(
        `svc cannot verify the isolation of sandboxes with the runtime "${runtime}": it cannot listen on an address that containers of this engine can reach.`,
        { permanent: true },
      );
    });
    const netns = await startNetworkNamespace(
      engine,
      {
        ...{ name: `${name}-fence`, image, labels, network, hostNetwork, hosts: [] },
        // an entry for its name in both
        api: { hostname: inside, port: rules === "open" ? listener.port : OTHER_PORT },
        ...{ proxy: null, daemonPort: null },
      },
      AbortSignal.timeout(ATTEMPTS_MS.longestMs),
    );
    await netns.ready;
    const env = { PROBE_HOST: inside, PROBE_PORT: `${listener.port}`, PROBE_WORD: id };
    const what = `run a container with the runtime "${runtime}"`;
    const container = await engine.call(what, (docker, abortSignal) =>
      docker.createContainer({
        name,
        Image: image,
        User: "0:0",
        Entrypoint: ["/bin/bash", "-c", SCRIPT],
        Cmd: [],
        Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
        Labels: labels,
        HostConfig: sandboxWalls(netns.id, runtime, LIMITS),
        abortSignal,
      }),
    );
    await engine.call(what, (_, abortSignal) => container.start({ abortSignal }), ATTEMPTS_MS);
    const { StatusCode } = await engine.call(
      what,
      (_, abortSignal) => container.wait({ abortSignal }),
      ATTEMPTS_MS,
    );
    return { reached: listener.reached, exitCode: StatusCode };
  } finally {
    listener?.close();
    await endAll(engine, own, 0);
  }
}

interface Listener {
  port: number;
  /** By which protocols the word has arrived. */
  reached: ReadonlySet<Protocol>;
  close(): void;
}

/** Listens for a word by TCP and UDP, at one port, and answers it. */
async function listenFor(word: string, hostname: string): Promise<Listener> {
  const reached = new Set<Protocol>();
  const take = (client: Socket) => {
    let text = "";
    client.on("error", () => client.destroy());
    client.on("data", (data) => {
      text = `${text}${data}`.slice(0, word.length);
      if (text !== word) return;
      reached.add("TCP");
      client.end("\n");
    });
  };
  const { port, listener } = await atFreePort(API_PORT, async (port) => {
    const tcp = await listenRaw({ host: hostname, port }, take, CONNECTIONS_MAX);
    try {
      const udp = await Bun.udpSocket({
        hostname,
        port,
        socket: {
          data(socket, data, from, address) {
            if (data.toString().trim() !== word) return;
            reached.add("UDP");
            socket.send("\n", from, address);
          },
        },
      });
      return { tcp, udp };
    } catch (error) {
      tcp.close();
      throw error;
    }
  });
  return {
    port,
    reached,
    close() {
      listener.tcp.close();
      listener.udp.close();
    },
  };
}
