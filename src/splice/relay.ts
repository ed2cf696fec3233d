import { connect, createServer, type NetConnectOpts, type Socket } from "node:net";

/** Where a relay listens: an address and a port, or the path of a unix socket. */
export type RelayAddress = { host: string; port: number } | { path: string };

export interface Relay {
  /** 0 for a unix socket. */
  port: number;
  /** Stops listening and closes the open connections. */
  close(): void;
}

/**
 * Relays each connection to another address, byte for byte and both ways.
 * @param to called for each connection
 * @param connections the most that may be open at once; further ones are closed
 */
export async function openRelay(
  at: RelayAddress,
  to: () => NetConnectOpts,
  connections: number,
): Promise<Relay> {
  return await listenRaw(at, (client) => join(client, connect(to())), connections);
}

/** Listens for raw connections. @throws what listening throws */
export async function listenRaw(
  at: RelayAddress,
  take: (client: Socket) => void,
  connections: number,
): Promise<Relay> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    open.add(client);
    client.on("close", () => open.delete(client));
    take(client);
  });
  server.maxConnections = connections;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(at, resolve);
  await promise;
  server.off("error", reject);
  server.on("error", () => {});
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    close() {
      server.close();
      for (const client of open) client.destroy();
    },
  };
}

/** Joins two connections: the end or failure of one is passed to the other. */
export function join(one: Socket, other: Socket): void {
  flow(one, other);
  flow(other, one);
}

/** Passes what one connection receives, its end and its failure, to another. */
export function flow(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on("error", () => to.destroy());
  from.on("close", () => {
    if (!from.readableEnded) to.destroy();
  });
}
