import { arrayOf, field, textField } from "../../../contract/json.ts";
import { readText } from "./mrkdwn.ts";

/** A message of a person to the bot. */
export interface SlackMessage {
  room: string;
  ts: string;
  /** The first message of its thread: its own `ts` if it begins one. */
  thread: string;
  userId: string;
  text: string;
  isMention: boolean;
  isDirect: boolean;
}

/** A click on a button of one of the bot's messages. */
export interface SlackClick {
  room: string;
  /** The message with the button, and the thread that it is in. */
  ts: string;
  thread: string;
  userId: string;
  actionId: string;
  value: string;
  clickedAt: string;
}

/** Ids of Slack. Others are not its, and would end up in keys and texts. */
const ROOM = /^[CDG][A-Z0-9]{2,30}$/;
const USER = /^[UW][A-Z0-9]{2,30}$/;
const TS = /^\d{1,12}\.\d{1,9}$/;
/** Messages with these subtypes are a person's, as are those without one. */
const SUBTYPES = ["", "file_share", "thread_broadcast"];

/**
 * Reads a message event.
 * @returns null for everything that is not a new message of a person: edits, deletions, messages of bots and of the bot
 *   itself, and messages that neither mention the bot, nor are direct, nor reply in a thread
 */
export function readMessage(event: unknown, botUserId: string): SlackMessage | null {
  const type = textField(event, "type");
  if (type !== "app_mention" && type !== "message") return null;
  if (!SUBTYPES.includes(textField(event, "subtype")) || isByBot(event)) return null;
  if (field(event, "edited") !== undefined || field(event, "hidden") === true) return null;
  const [room, ts, userId] = [textField(event, "channel"), textField(event, "ts"), textField(event, "user")];
  const thread = textField(event, "thread_ts") || ts;
  if (!ROOM.test(room) || !TS.test(ts) || !TS.test(thread) || !USER.test(userId)) return null;
  if (userId === botUserId) return null;
  const typed = textField(event, "text");
  const isMention = type === "app_mention" || typed.includes(`<@${botUserId}>`);
  const isDirect = textField(event, "channel_type") === "im" || room.startsWith("D");
  if (!isMention && !isDirect && thread === ts) return null;
  return { room, ts, thread, userId, text: readText(typed, botUserId), isMention, isDirect };
}

function isByBot(event: unknown): boolean {
  return ["bot_id", "bot_profile", "app_id"].some((name) => {
    const found = field(event, name);
    return found !== undefined && found !== null && found !== "";
  });
}

/** Reads the first action of a block_actions payload; null for other interactions. */
export function readClick(payload: unknown): SlackClick | null {
  const [action] = arrayOf(field(payload, "actions"));
  if (textField(payload, "type") !== "block_actions" || textField(action, "type") !== "button") return null;
  const message = field(payload, "message");
  const ts = textField(message, "ts");
  const click = {
    room: textField(field(payload, "channel"), "id"),
    ts,
    thread: textField(message, "thread_ts") || ts,
    userId: textField(field(payload, "user"), "id"),
    actionId: textField(action, "action_id"),
    value: textField(action, "value"),
    clickedAt: textField(action, "action_ts"),
  };
  const areTimes = [click.ts, click.thread, click.clickedAt].every((time) => TS.test(time));
  return areTimes && ROOM.test(click.room) && USER.test(click.userId) ? click : null;
}
