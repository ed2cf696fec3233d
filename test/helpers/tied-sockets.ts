import type { Socket } from "node:net";

/**
 * Ties the two sides of a connection that passes through a test: when one ends, so does the other.
 * @param open has the sockets that are open, for whoever ends them all
 * @returns ends both
 */
export function tie(client: Socket, upstream: Socket, open: Set<Socket>): () => void {
  const end = () => {
    client.destroy();
    upstream.destroy();
  };
  for (const socket of [client, upstream]) {
    open.add(socket);
    socket.on("error", end).on("close", () => {
      open.delete(socket);
      end();
    });
  }
  return end;
}
