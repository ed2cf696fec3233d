import { field, numberField, textField } from "../../contract/json.ts";

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
  isAnswered: boolean;
  /** How often the answer could not be read. */
  tries: number;
}

export function newRelay(of: Pick<RelayState, "room" | "thread" | "promptId">): RelayState {
  return { ...of, status: "", shown: "", shownAt: 0, ask: "", askMessage: "", isAnswered: false, tries: 0 };
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
    isAnswered: field(payload, "isAnswered") === true,
    tries: numberField(payload, "tries") ?? 0,
  };
}
