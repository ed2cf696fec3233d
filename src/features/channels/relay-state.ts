import { field, numberField, textField } from "../../contract/json.ts";
import type { ChannelContext } from "./context.ts";

/** What a relay has posted of its prompt. Texts are empty before. */
export interface RelayState {
  room: string;
  thread: string;
  promptId: string;
  /** The message with the status, and its text. */
  status: string;
  shown: string;
  /** When it was last updated (`Date.now()`). */
  shownAt: number;
  /** The question that is posted, and its message. */
  ask: string;
  askMessage: string;
  /** The messages of connector calls that wait for approval, by the id of the question. */
  calls: Record<string, string>;
  isAnswered: boolean;
  /** How often the answer could not be read. */
  tries: number;
}

/** A relay at work. */
export interface Relaying extends ChannelContext {
  relay: RelayState;
  sessionId: string;
  /** Of the session. */
  page: string;
  /** Records what was just posted, so that a crash does not repeat it. */
  save(changes: Partial<RelayState>): Promise<void>;
}

export function newRelay(of: Pick<RelayState, "room" | "thread" | "promptId">): RelayState {
  return {
    ...of,
    ...{ status: "", shown: "", shownAt: 0, ask: "", askMessage: "", calls: {}, isAnswered: false, tries: 0 },
  };
}

export function readRelay(payload: unknown): RelayState {
  const text = (name: string) => textField(payload, name);
  return {
    room: text("room"),
    thread: text("thread"),
    promptId: text("promptId"),
    status: text("status"),
    shown: text("shown"),
    shownAt: numberField(payload, "shownAt") ?? 0,
    ask: text("ask"),
    askMessage: text("askMessage"),
    calls: textFields(field(payload, "calls")),
    isAnswered: field(payload, "isAnswered") === true,
    tries: numberField(payload, "tries") ?? 0,
  };
}

function textFields(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, each]) => typeof each === "string"));
}
