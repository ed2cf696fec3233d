/** Above well-known ports, and below the ephemeral ports (from 32768 on Linux, from 49152 on macOS). */
const [FROM, BELOW] = [20_000, 32_000];

/**
 * A free port, for a program that requires a port number. A port that the system chooses is ephemeral, so an outgoing
 * connection could take it.
 */
export function freePort(): number {
  for (;;) {
    const port = FROM + Math.floor(Math.random() * (BELOW - FROM));
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // in use
    }
  }
}
