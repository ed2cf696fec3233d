import http from "node:http";
import { field, parseJson } from "../../src/contract/json.ts";

/** What the runtime tells of a conversation by itself. */
export interface Subscription {
  /** Resolves when it is listened to, or is found out not to be. */
  ready: Promise<void>;
  stop(): void;
}

export interface Handlers {
  /** A run in this conversation is over. */
  onIdle(conversation: string): void;
  /** Something went wrong in it; the sentence is the runtime's. */
  onError(conversation: string, name: string, message: string): void;
}

/** It answers at once, or is not there: what it tells is a help, and what it keeps is asked for anyhow. */
const READY_MS = 2_000;
/** An event of interest is short; a longer line is the agent's words, and passed over. */
const LINE_MAX = 64 * 1024;

/** Listens to the runtime's event stream until it ends or is stopped. */
export function subscribeToRuntime(port: number, authorization: string, handlers: Handlers): Subscription {
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  let line = "";
  const request = http.request(
    { host: "127.0.0.1", port, path: "/event", agent: false, headers: { Authorization: authorization } },
    (response) => {
      response.setEncoding("utf8");
      response.on("error", () => {});
      response.on("data", (text: string) => {
        const [first = "", ...more] = text.split("\n");
        line = line.length > LINE_MAX ? line : line + first;
        for (const next of more) {
          read(line);
          line = next;
        }
      });
    },
  );
  request.on("error", resolve);
  request.on("close", resolve);
  request.end();
  const timer = setTimeout(resolve, READY_MS);

  return {
    ready: ready.finally(() => clearTimeout(timer)),
    stop: () => void request.destroy(),
  };

  function read(event: string): void {
    if (event.includes('"server.connected"')) resolve();
    // most lines are words of the agent's: they are not worth reading
    if (event.length > LINE_MAX || !/"session\.(?:idle|error)"/.test(event)) return;
    const value = parseJson(event.slice("data:".length));
    const properties = field(value, "properties");
    const [conversation, error] = [field(properties, "sessionID"), field(properties, "error")];
    if (typeof conversation !== "string") return;
    if (field(value, "type") === "session.idle") handlers.onIdle(conversation);
    if (field(value, "type") === "session.error")
      handlers.onError(
        conversation,
        String(field(error, "name")),
        String(field(field(error, "data"), "message")),
      );
  }
}
