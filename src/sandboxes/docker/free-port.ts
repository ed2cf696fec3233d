/** Ports to try: as many as there are networks of sandboxes, for engines with which all sandboxes connect to one address. */
const PORTS = 4096;

/**
 * Listens on the first port that is free.
 * @throws what listening throws, for another reason than a port in use
 */
export async function atFreePort<T>(
  first: number,
  listen: (port: number) => T | Promise<T>,
): Promise<{ port: number; listener: T }> {
  for (let port = first; ; port++) {
    try {
      return { port, listener: await listen(port) };
    } catch (error) {
      if (!isTaken(error) || port >= first + PORTS) throw error;
    }
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}
