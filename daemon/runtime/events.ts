import http from "node:http";
import { field, parseJson } from "../../src/contract/json.ts";

/** A subscription to the runtime's event stream. */
export interface Subscription {
  /** Resolves once the subscription is active or has failed. */
  ready: Promise<void>;
  stop(): void;
}

export interface Handlers {
  /** A run in the conversation has ended. */
  onIdle(conversation: string): void;
  /** A run in the conversation has failed, with an error of the runtime. */
  onError(conversation: string, name: string, message: string): void;
}

/** Events only speed things up: prompts are polled too. */
const READY_MS = 2_000;
/** Relevant events are short; longer lines contain output of the agent and are ignored. */
const LINE_MAX = 64 * 1024;

/** Subscribes to the runtime's event stream until the stream ends or the subscription is stopped. */
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
