import { arrayOf } from "../../contract/json.ts";
import type { PERMISSION_REPLIES, WaitingFor } from "../../contract/session.ts";
import { type Ask, askOf } from "../../conversation/runtime-event.ts";
import { callRuntime, type Daemon } from "../../sandboxes/daemon.ts";

/** Open requests of an agent and its subagents. */
const ASKS_MAX = 20;

/**
 * The permission requests and questions that the agent of a sandbox waits on, the oldest first. opencode 1.18 lists no
 * permission request while one of them is for a tool that was called without an optional argument (`webfetch`): then the
 * one that it is known to wait for is among them.
 * @param waitingFor what it was last known to wait for
 */
export async function readAsks(daemon: Daemon, waitingFor: WaitingFor | null): Promise<Ask[]> {
  const lists = await askLists(daemon);
  const asks = asksOf(lists);
  if (lists[0] !== undefined || waitingFor?.kind !== "permission") return asks;
  const { request_id: id, permission, patterns } = waitingFor;
  return [{ kind: "permission", id, sessionId: "", permission: permission ?? "", patterns }, ...asks];
}

/** The same as the runtime lists them; null if it does not. */
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
