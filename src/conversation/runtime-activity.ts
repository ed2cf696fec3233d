import { isObject } from "../contract/json.ts";
import { type Ask, readRuntimeEvent, statusOf } from "./runtime-event.ts";

/** Open requests that are remembered: far more than an agent and its subagents can have. */
const ASKS_MAX = 100;

/** What the agent of a sandbox does, its subagents included. */
export class RuntimeActivity {
  readonly #busy = new Set<string>();
  readonly #asks = new Map<string, Ask>();

  /**
   * @param statuses the runtime's `GET /session/status`, which has no entry for an idle session
   * @param asks the open permission requests and questions, the oldest first
   */
  applySnapshot(statuses: unknown, asks: readonly Ask[]): void {
    this.#busy.clear();
    this.#asks.clear();
    for (const [id, status] of Object.entries(isObject(statuses) ? statuses : {}))
      if (statusOf(status).type !== "idle") this.#busy.add(id);
    for (const ask of asks.slice(0, ASKS_MAX)) this.#asks.set(ask.id, ask);
  }

  /** @param value an event of the runtime */
  applyEvent(value: unknown): void {
    const event = readRuntimeEvent(value);
    if (event?.type === "status") {
      if (event.status.type === "idle") this.#busy.delete(event.sessionId);
      else this.#busy.add(event.sessionId);
      // the runtime keeps the requests of an aborted run in its list, and reports no end of them
      if (this.#busy.size === 0) this.#asks.clear();
    }
    if (event?.type === "asked" && this.#asks.size < ASKS_MAX) this.#asks.set(event.ask.id, event.ask);
    if (event?.type === "answered") this.#asks.delete(event.askId);
  }

  /** What it waits for is the oldest open request. */
  get state(): { activity: "working" | "idle"; ask: null } | { activity: "waiting"; ask: Ask } {
    if (this.#busy.size === 0) return { activity: "idle", ask: null };
    const [ask] = this.#asks.values();
    return ask ? { activity: "waiting", ask } : { activity: "working", ask: null };
  }
}
