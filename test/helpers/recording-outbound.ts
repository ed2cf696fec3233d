import { createOutbound, type Outbound } from "../../src/lib/outbound.ts";

/** The guarded client of a server that allows no private addresses. It resolves as a test says, and never connects. */
export interface RecordingOutbound {
  outbound: Outbound;
  /** The hosts that were resolved. */
  resolved: string[];
  /** The addresses that it would have connected to. */
  connected: string[];
}

export function recordingOutbound(resolve: (host: string) => string[]): RecordingOutbound {
  const resolved: string[] = [];
  const connected: string[] = [];
  const outbound = createOutbound({
    allowPrivate: false,
    async resolve(host) {
      resolved.push(host);
      return resolve(host);
    },
    async connect({ address }) {
      connected.push(address);
      throw new Error("connected");
    },
  });
  return { outbound, resolved, connected };
}
