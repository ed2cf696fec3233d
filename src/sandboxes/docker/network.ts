import { randomInt } from "node:crypto";
import { SandboxError } from "../provider.ts";
import { type Engine, EngineError } from "./engine.ts";
import type { Labels } from "./names.ts";

/** A bridge network for one sandbox. */
export interface Network {
  id: string;
  /** This machine's address in it. */
  gateway: string;
  /** The sandbox's. */
  member: string;
}

/**
 * The range of the networks, with eight addresses each: Docker's own pools have about thirty networks, and are for the
 * user. 198.18.0.0/15 is not routed on the internet (RFC 2544); some VPN clients use its lower half.
 */
const FIRST = 198 * 2 ** 24 + 19 * 2 ** 16;
const NETWORKS = 4096;
const SIZE = 8;
/** With half of the networks in use, this many random picks all fail once in a million times. */
const TRIES = 20;

/** Creates a network for one sandbox, without IPv6. @throws SandboxError */
export async function createNetwork(engine: Engine, name: string, labels: Labels): Promise<Network> {
  for (let tries = 1; ; tries++) {
    const first = FIRST + randomInt(NETWORKS) * SIZE;
    const [subnet, gateway, member] = [`${dotted(first)}/29`, dotted(first + 1), dotted(first + 2)];
    try {
      const { id } = await engine.call("create a network", (docker, abortSignal) =>
        docker.createNetwork({
          Name: name,
          Driver: "bridge",
          CheckDuplicate: true,
          EnableIPv6: false,
          IPAM: { Driver: "default", Config: [{ Subnet: subnet, Gateway: gateway }] },
          Options: { "com.docker.network.bridge.enable_icc": "false" },
          Labels: { ...labels },
          abortSignal,
        }),
      );
      return { id, gateway, member };
    } catch (error) {
      if (!(error instanceof EngineError) || !/overlap|in use|conflict/i.test(error.message)) throw error;
      if (tries === TRIES) {
        throw new SandboxError("No network is free for the sandbox. Stop sessions that are not needed.");
      }
    }
  }
}

/** Where this machine can listen for a sandbox, and its name or address in the sandbox. */
export async function machineIn(
  engine: Engine,
  network: Network,
): Promise<{ hostname: string; inside: string }> {
  const { isForwarded } = await engine.properties();
  const { gateway } = network;
  // Docker Desktop's name for its host
  return isForwarded
    ? { hostname: "127.0.0.1", inside: "host.docker.internal" }
    : { hostname: gateway, inside: gateway };
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}
