import { connect } from "node:net";
import { FLUSH, packet } from "../../src/git/remote/pkt-line.ts";
import type { GatewayBench } from "./gateway.ts";

type Service = "git-receive-pack" | "git-upload-pack";

/** A request of git's protocol to the hosted project, as its user, with any body and headers. */
export async function postGit(
  bench: GatewayBench,
  service: Service,
  body: Uint8Array,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${bench.url(bench.hosted, null)}/${service}`, {
    method: "POST",
    headers: {
      Authorization: authorizationOf(bench),
      "Content-Type": `application/x-${service}-request`,
      ...headers,
    },
    body: new Uint8Array(body),
  });
  return { status: answer.status, text: await answer.text().catch(() => "(broken off)") };
}

export function authorizationOf({ api }: GatewayBench): string {
  return `Basic ${Buffer.from(`x:${api.token}`).toString("base64")}`;
}

/** The request of a push of one new branch: the commands, and the pack. */
export function pushOf(to: string, pack: Uint8Array, capabilities = "report-status"): Buffer {
  return Buffer.concat([packet(`${"0".repeat(40)} ${to} refs/heads/new\0${capabilities}`), FLUSH, pack]);
}

export interface Wire {
  write(bytes: string | Uint8Array): void;
  /** What has been received so far. */
  text(): string;
  /** Settles when the server has closed the connection. */
  closed: Promise<void>;
  close(): void;
}

/** A connection to the server, with nothing sent yet. */
export async function openWire(bench: GatewayBench): Promise<Wire> {
  const { hostname, port } = new URL(bench.api.url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.on("connect", () => resolve()));
  return {
    write: (bytes) => void socket.write(bytes),
    text: () => Buffer.concat(chunks).toString("latin1"),
    closed,
    close: () => socket.destroy(),
  };
}
