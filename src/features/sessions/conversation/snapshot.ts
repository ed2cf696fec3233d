import { CONVERSATION_ID } from "../../../contract/conversation.ts";
import { field } from "../../../contract/json.ts";
import { statusOf } from "../../../conversation/runtime-event.ts";
import { RuntimeTurns } from "../../../conversation/runtime-turns.ts";
import { callRuntime, type Daemon, fetchHealth } from "../../../sandboxes/daemon.ts";
import { findAsks } from "../agent.ts";

/** Messages that are read: fewer if the outputs of tools are so large that they do not fit into one answer. */
const MESSAGES = [200, 40, 8, 1];

/** Subagents whose conversations are read: those of the last turn or two. */
const SUBAGENTS = 8;

/** The end of the conversation of a sandbox's runtime; null if there is none, or the runtime does not answer. */
export async function readRuntimeTurns(daemon: Daemon): Promise<RuntimeTurns | null> {
  const conversation = (await fetchHealth(daemon))?.conversation ?? "";
  if (!CONVERSATION_ID.test(conversation)) return null;
  const isBusy = async () => {
    const statuses = await callRuntime(daemon, "GET", "/session/status");
    return statuses === undefined ? null : statusOf(field(statuses, conversation)).type !== "idle";
  };
  const wasBusy = await isBusy();
  const asks = await findAsks(daemon);
  const messages = wasBusy === null ? null : await readMessages(daemon, conversation);
  if (!messages) return null;
  const turns = new RuntimeTurns(conversation);
  const info = await callRuntime(daemon, "GET", `/session/${conversation}`);
  // a run may have begun between the two answers
  turns.applySnapshot(messages, wasBusy || ((await isBusy()) ?? true), asks, info);
  for (const subagent of turns.subagents.slice(-SUBAGENTS))
    if (CONVERSATION_ID.test(subagent)) turns.addMessages((await readMessages(daemon, subagent)) ?? []);
  return turns;
}

async function readMessages(daemon: Daemon, conversation: string): Promise<unknown[] | null> {
  for (const limit of MESSAGES) {
    const messages = await callRuntime(daemon, "GET", `/session/${conversation}/message?limit=${limit}`);
    if (Array.isArray(messages)) return messages;
  }
  return null;
}
