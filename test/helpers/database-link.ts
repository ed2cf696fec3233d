import { createServer, connect as dial, type Socket } from "node:net";
import { tie } from "./tied-sockets.ts";

/** A proxy between one server and its database, which can be cut for that server only. */
export interface DatabaseLink {
  url: string;
  /** Closes all connections, and refuses new ones. */
  cut(): void;
  mend(): void;
  /** Number of refused connections. */
  refused(): number;
  close(): void;
}

export async function linkTo(databaseUrl: string): Promise<DatabaseLink> {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  let isCut = false;
  let refused = 0;
  const server = createServer((client) => {
    if (isCut) {
      refused++;
      return void client.destroy();
    }
    const upstream = dial(Number(target.port || 5432), target.hostname);
    tie(client, upstream, open);
    client.pipe(upstream).pipe(client);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(typeof address === "object" ? address?.port : "");
  const cut = () => {
    isCut = true;
    for (const socket of open) socket.destroy();
  };
  return {
    url: url.href,
    cut,
    refused: () => refused,
    mend() {
      isCut = false;
    },
    close() {
      cut();
      server.close();
    },
  };
}
