import { randomInt } from "node:crypto";
import { SandboxError } from "../provider.ts";
import { type Engine, EngineError } from "./engine.ts";
import type { Labels } from "./names.ts";

/** A bridge network with room for one sandbox. */
export interface Network {
  id: string;
  /** This machine's address in it. */
  gateway: string;
  /** The sandbox's. */
  member: string;
}

/**
 * Networks are cut out of here, eight addresses each: Docker's own pools hold about thirty networks, and are the user's.
 * 198.18.0.0/15 belongs to nobody on the internet (RFC 2544), and the lower half is what some VPN clients take.
 */
const FIRST = 198 * 2 ** 24 + 19 * 2 ** 16;
const NETWORKS = 4096;
const SIZE = 8;
/** Even with half of them taken, this many picks fail together once in a million times. */
const TRIES = 20;

/** Makes a network of its own for a sandbox; IPv6 is off in it. @throws SandboxError */
export async function createNetwork(engine: Engine, name: string, labels: Labels): Promise<Network> {
  for (let tries = 1; ; tries++) {
    const first = FIRST + randomInt(NETWORKS) * SIZE;
    const [subnet, gateway, member] = [`${dotted(first)}/29`, dotted(first + 1), dotted(first + 2)];
    try {
      const { id } = await engine.ask("make a network", (docker, abortSignal) =>
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
        throw new SandboxError("No network is free for the sandbox: end sessions that nobody needs.");
      }
    }
  }
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}
