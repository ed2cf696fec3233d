import net from "node:net";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";

export interface RawAnswer {
  /** 0 without a response. */
  status: number;
  /** Everything received; each character is a byte. */
  text: string;
}

/** Sends bytes unchanged, and reads until the other end closes. */
export function sendRaw(url: string, text: string): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname, () => socket.write(text, "latin1"));
  let seen = "";
  socket.setTimeout(WAIT_LIMIT_MS, () => socket.destroy(new Error(`no end: ${seen}`)));
  socket.on("data", (bytes) => {
    seen += bytes.toString("latin1");
  });
  socket.on("close", () => resolve({ status: Number(seen.slice(9, 12)), text: seen }));
  socket.on("error", reject);
  return promise;
}

/** A request of one connection. */
export function rawRequest(target: string, lines: readonly string[], method = "GET", body = ""): string {
  return `${[`${method} ${target} HTTP/1.1`, "Connection: close", ...lines].join("\r\n")}\r\n\r\n${body}`;
}
