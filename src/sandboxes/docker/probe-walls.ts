import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { listenRaw } from "../../splice/relay.ts";
import type { SandboxLimits } from "../provider.ts";
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
 * Tests whether the network rules of sandboxes hold with an OCI runtime. Runtimes with a network stack of their own, such as
 * gVisor's default and Kata, send packets past the rules of the network namespace.
 *
 * Two containers with the walls of a sandbox send a word to a listener of this process, on the machine's address in their
 * network. They differ in one thing: the rules of the first close the listener, and those of the second open it for TCP. So what
 * does not reach it is stopped by the rules, and not by a firewall or a mistake of the probe.
 * @returns why the rules do not hold, as a sentence; null if they hold
 * @throws SandboxError when a container cannot be started
 */
export async function probeWalls(
  context: ProbeContext,
  runtime: string,
  image: string,
): Promise<string | null> {
  const [closed, open] = await Promise.all([
    reachedFrom(context, runtime, image, "closed"),
    reachedFrom(context, runtime, image, "open"),
  ]);
  return verdictOf(runtime, closed, open);
}

/** @param closed what reached the listener although its rules close it; @param open what reached the one that is open for TCP */
export function verdictOf(
  runtime: string,
  closed: ReadonlySet<Protocol>,
  open: ReadonlySet<Protocol>,
): string | null {
  const leaks = [...new Set([...closed, ...(open.has("UDP") ? ["UDP"] : [])])].sort();
  if (leaks.length > 0) {
    return `The network rules of sandboxes do not hold with the runtime "${runtime}": a container reached an address that they close (${leaks.join(", ")}). For gVisor, add "--network=host" to its runtimeArgs in Docker's daemon.json, and restart Docker. With another runtime that has its own network stack, such as Kata, svc cannot enforce them: choose another one with SVC_DOCKER_RUNTIME.`;
  }
  if (open.has("TCP")) return null;
  return `svc cannot verify the network rules of sandboxes with the runtime "${runtime}": a container did not reach an address of svc that they open. Check that containers start with it (docker run --runtime ${runtime}), and that no firewall closes their way to svc (docs/docker.md).`;
}

/** Sends the word by each protocol, and waits a moment for an answer. */
const SCRIPT = `
for protocol in tcp udp; do
  timeout 10 bash -c 'exec 3<>"/dev/$0/$PROBE_HOST/$PROBE_PORT" && echo "$PROBE_WORD" >&3 && read -r -t 2 <&3' "$protocol"
done
exit 0
`;

/** Starts a container, and waits until it has ended. @returns the protocols by which it reached this process */
async function reachedFrom(
  { engine, installation, readHostNetwork }: ProbeContext,
  runtime: string,
  image: string,
  rules: "closed" | "open",
): Promise<ReadonlySet<Protocol>> {
  const id = randomUUID();
  const own = { [LABEL.installation]: installation, [LABEL.start]: id };
  const labels = { ...own, [LABEL.role]: "scratch" };
  const name = `svc-probe-${id}`;
  const hostNetwork = await readHostNetwork(image);
  let listener: Listener | null = null;
  try {
    const network = await createNetwork(engine, name, labels);
    const { hostname, inside } = await machineIn(engine, network);
    listener = await listenFor(id, hostname);
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
    await engine.call(what, (_, abortSignal) => container.wait({ abortSignal }), ATTEMPTS_MS);
    return listener.reached;
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
