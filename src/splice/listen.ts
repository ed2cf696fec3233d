import {
  CONNECTION_LIMITS,
  type Connection,
  type ConnectionLimits,
  type Decide,
  type Explain,
} from "./connection.ts";
import { close, end, retire, sweep } from "./finish.ts";
import { createConnection, receive } from "./receive.ts";
import { release } from "./release.ts";
import type { Address } from "./upstream.ts";

export interface Listener {
  /** 0 for a unix socket. */
  port: number;
  /** The number of open connections. */
  readonly connections: number;
  /** Accepts no more connections, completes requests for at most `drainMs`, then closes the rest. */
  stop(drainMs: number): Promise<void>;
}

const POLL_MS = 20;

/**
 * Listens for HTTP/1.1 and forwards each request with its body unchanged; responses pass back unread. Nothing is
 * buffered: the slower side sets the pace.
 */
export function listen(
  address: Address,
  decide: Decide,
  explain: Explain,
  limits: ConnectionLimits = CONNECTION_LIMITS,
): Listener {
  const open = new Set<Connection>();
  const common: Omit<Bun.TCPSocketListenOptions<Connection>, "hostname" | "port"> = {
    allowHalfOpen: true,
    socket: {
      open(socket) {
        socket.setNoDelay(true);
        socket.data = createConnection(socket, decide, explain, limits);
        open.add(socket.data);
      },
      data(socket, bytes) {
        receive(socket.data, bytes);
        release(bytes);
      },
      drain: (socket) => socket.data.writer.drain(),
      end: (socket) => end(socket.data),
      close(socket) {
        close(socket.data);
        open.delete(socket.data);
      },
      error(socket) {
        socket.terminate();
      },
    },
  };
  const server =
    "unix" in address ? Bun.listen({ ...common, ...address }) : Bun.listen({ ...common, ...address });
  const timer = setInterval(() => {
    const now = limits.now();
    for (const connection of open) sweep(connection, now);
  }, limits.sweepMs);

  return {
    port: "port" in server ? server.port : 0,
    get connections() {
      return open.size;
    },
    async stop(drainMs) {
      server.stop(false);
      for (const connection of open) retire(connection);
      const deadline = performance.now() + drainMs;
      while (open.size > 0 && performance.now() < deadline) await Bun.sleep(POLL_MS);
      clearInterval(timer);
      for (const { socket } of open) socket.terminate();
    },
  };
}
