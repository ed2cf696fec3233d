import { connect, type Socket } from "node:net";

/** Many clients of one event stream, each with its own connection; `fetch` is limited to 256. */
export interface ManyStreams {
  /** Number of clients that received this id. */
  receiversOf(id: string): number;
  /** Number of clients whose stream has started. */
  started(): number;
  close(): void;
}

export function openStreams(url: string, token: string, projectId: string, count: number): ManyStreams {
  const { hostname, port } = new URL(url);
  const head = `GET /v1/projects/${projectId}/events HTTP/1.1\r\nHost: x.test\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const clients = Array.from({ length: count }, () => {
    const client: { text: string; socket: Socket | null } = { text: "", socket: null };
    client.socket = connect(Number(port), hostname, () => client.socket?.write(head));
    client.socket.on("data", (bytes: Buffer) => {
      client.text += bytes.toString("latin1");
    });
    client.socket.on("error", () => {});
    return client;
  });
  const having = (what: string) => clients.filter(({ text }) => text.includes(what)).length;
  return {
    receiversOf: (id) => having(`"id":"${id}"`),
    started: () => having("event: ready"),
    close: () => {
      for (const { socket } of clients) socket?.destroy();
    },
  };
}
