/** The two ports of a sandbox, on 127.0.0.1. */
export interface Ports {
  daemon: number;
  runtime: number;
}

/** Below what systems choose from for outgoing connections (Linux: 32768, macOS: 49152), above what services use. */
const FIRST = 20_000;
const LAST = 32_000;
/** More than are ever in use at once; then the machine is out of ports, or does not let us listen. */
const TRIES = 1_000;

/**
 * Chooses two ports that nobody listens on.
 * @param taken ports that sandboxes have, or will have when their programs listen
 * @returns null when there are none
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
