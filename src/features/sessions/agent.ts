import { arrayOf } from "../../contract/json.ts";
import type { PERMISSION_REPLIES } from "../../contract/session.ts";
import { type Ask, askOf } from "../../conversation/runtime-event.ts";
import { callRuntime, type Daemon } from "../../sandboxes/daemon.ts";

/** Open requests of an agent and its subagents. */
const ASKS_MAX = 20;

/** The permission requests and questions that the agent of a sandbox waits on, the oldest first. */
export async function readAsks(daemon: Daemon): Promise<Ask[]> {
  return asksOf(await askLists(daemon));
}

/** The same; null if the agent does not answer. */
export async function findAsks(daemon: Daemon): Promise<Ask[] | null> {
  const lists = await askLists(daemon);
  return lists.includes(undefined) ? null : asksOf(lists);
}

function askLists(daemon: Daemon): Promise<unknown[]> {
  return Promise.all([callRuntime(daemon, "GET", "/permission"), callRuntime(daemon, "GET", "/question")]);
}

function asksOf(lists: readonly unknown[]): Ask[] {
  return lists.flatMap((list) => arrayOf(list).flatMap((value) => askOf(value) ?? [])).slice(0, ASKS_MAX);
}

/**
 * Answers a question, or a permission request, of the agent.
 * @param reply null: no answer, which rejects it
 * @returns whether the runtime accepted it
 */
export async function answerAsk(
  daemon: Daemon,
  ask: Ask,
  reply: { answers: string[][] } | { reply: (typeof PERMISSION_REPLIES)[number] } | null,
): Promise<boolean> {
  if (reply === null && ask.kind === "permission") return answerAsk(daemon, ask, { reply: "reject" });
  if (reply === null)
    return (await callRuntime(daemon, "POST", `/question/${ask.id}/reject`, {})) !== undefined;
  return (await callRuntime(daemon, "POST", `/${ask.kind}/${ask.id}/reply`, reply)) !== undefined;
}
