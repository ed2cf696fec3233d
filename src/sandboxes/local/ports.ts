/** The two ports of a sandbox, on 127.0.0.1. */
export interface Ports {
  daemon: number;
  runtime: number;
}

/** Below the ephemeral ports (Linux: 32768, macOS: 49152), above the ports of most services. */
const FIRST = 20_000;
const LAST = 32_000;
/** After as many failures, the machine has no free ports, or does not allow svc to listen. */
const TRIES = 1_000;

/**
 * Chooses two free ports.
 * @param taken ports that are assigned to sandboxes, even if their programs do not listen yet
 * @returns null when no port is free
 */
export function choosePorts(taken: ReadonlySet<number>): Ports | null {
  const chosen: number[] = [];
  for (let tries = 0; tries < TRIES; tries++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (!taken.has(port) && !chosen.includes(port) && isFree(port)) chosen.push(port);
    const [daemon, runtime] = chosen;
    if (daemon !== undefined && runtime !== undefined) return { daemon, runtime };
  }
  return null;
}

export function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
