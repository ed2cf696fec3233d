/** Below what systems give to connections that go out (32768 and more on Linux, 49152 on macOS), above what services use. */
const [FROM, BELOW] = [20_000, 32_000];

/**
 * A port of this machine that nothing listens at, for a program that has to be told one. Asking the system for any would
 * give one that a connection may have a moment later.
 */
export function freePort(): number {
  for (;;) {
    const port = FROM + Math.floor(Math.random() * (BELOW - FROM));
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // it is taken
    }
  }
}
