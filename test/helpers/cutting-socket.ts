import { rmSync } from "node:fs";
import { createServer, connect as dial, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tie } from "./tied-sockets.ts";

/** A unix socket in front of another one, which closes the connection at a chosen request. */
export interface CuttingSocket {
  path: string;
  /**
   * From now on requests are counted; the given one is cut off: `before` the other side gets it, or `after`, when it has
   * begun to answer.
   */
  cut(at: number, when: "before" | "after"): void;
  /** Cuts nothing any more. @returns how many requests there were */
  spare(): number;
  close(): void;
}

export async function cuttingSocket(target: string): Promise<CuttingSocket> {
  const path = join(tmpdir(), `svc-cut-${crypto.randomUUID().slice(0, 8)}.sock`);
  const open = new Set<Socket>();
  let wanted: { at: number; when: "before" | "after" } | null = null;
  let requests = 0;

  const server = createServer((client) => {
    const upstream = dial(target);
    let isCut = false;
    const end = tie(client, upstream, open);
    client.on("data", (bytes) => {
      if (/^(?:GET|HEAD|POST|PUT|DELETE) \//.test(bytes.toString("latin1", 0, 16))) {
        requests++;
        isCut = wanted?.at === requests;
        if (isCut && wanted?.when === "before") return end();
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => (isCut ? end() : client.write(bytes)));
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(path, resolve);
  await promise;

  return {
    path,
    cut(at, when) {
      requests = 0;
      wanted = { at, when };
    },
    spare() {
      wanted = null;
      return requests;
    },
    close() {
      server.close();
      for (const socket of open) socket.destroy();
      rmSync(path, { force: true });
    },
  };
}
