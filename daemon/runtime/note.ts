import { newMessageId } from "../../src/contract/message-id.ts";
import type { RuntimeCall } from "./call.ts";

/** A cold runtime reads its agents and plugins first: 15 s were seen on a machine under load. */
const CALL_MS = 60_000;

/**
 * Adds a note to a conversation, which the agent reads with the next prompt. It is there before this returns, so that no
 * prompt comes before it.
 * @param text begins with `DAEMON_MARK`
 * @param more for the agent only
 * @returns whether it was added
 */
export async function addNote(
  call: RuntimeCall,
  conversation: string,
  text: string,
  more?: string,
): Promise<boolean> {
  const answer = await call("POST", `/session/${conversation}/message`, CALL_MS, {
    messageID: newMessageId(Date.now()),
    noReply: true,
    parts: [{ type: "text", text }, ...(more ? [{ type: "text", text: more, synthetic: true }] : [])],
  }).catch(() => null);
  return answer?.status === 200;
}
