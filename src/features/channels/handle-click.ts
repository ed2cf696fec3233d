import { SvcError } from "../../contract/errors.ts";
import { numberField, parseJson, textField } from "../../contract/json.ts";
import type { Deps } from "../../deps.ts";
import { mergeChangeRequest } from "../change-requests/merge.ts";
import { answerSession } from "../sessions/answer.ts";
import { openRequest, reachSession } from "../sessions/row.ts";
import { ANSWER_ACTION, answerOf, readAnswer } from "./ask-message.ts";
import { isPosted, MERGE_ACTION, showChangeRequests } from "./change-requests.ts";
import { answerConnectorAsk, CALL_ANSWERS } from "./connector-asks.ts";
import { type ChannelContext, findThread, openChannel } from "./context.ts";
import { findMember, type Member } from "./member.ts";
import type { TaskRow, ThreadRow } from "./rows.ts";
import { escapeLine, escapeText } from "./slack/mrkdwn.ts";
import type { TaskResult } from "./tasks.ts";

const NAME_MAX = 100;
const ERROR_MAX = 1_000;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Does what a button says, as the member who clicked it. */
export async function handleClick(deps: Deps, task: TaskRow): Promise<TaskResult> {
  const context = await openChannel(deps, task.channelId);
  const text = (name: string) => textField(task.payload, name);
  const [room, at] = [text("room"), text("thread")];
  const thread = context && (await findThread(deps.db, context.channel, { room, thread: at }));
  if (!context || !thread) return "done";
  const say = (words: string) => context.slack.post({ room, thread: at, text: words });
  const member = await findMember(deps, context.slack, context, text("userId"));
  if (!member) {
    await say(`<@${text("userId")}> Only members of this project's account in svc can use these buttons.`);
    return "done";
  }
  const decision = CALL_ANSWERS[text("actionId")];
  try {
    if (text("actionId") === MERGE_ACTION)
      await merge(deps, context, thread, member, { value: text("value"), say });
    else if (ANSWER_ACTION.test(text("actionId"))) await answer(deps, context, thread, member, text("value"));
    else if (decision)
      await answerConnectorAsk(deps, context, thread, member, {
        askId: text("value"),
        ts: text("ts"),
        answer: decision,
      });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    await say(`${escapeLine(member.name, NAME_MAX)}: ${escapeText(error.message, ERROR_MAX)}`);
  }
  await showChangeRequests(deps, context, thread);
  return "done";
}

/** Merges the commit that the message showed, and no other, of a change request that was posted in this thread. */
async function merge(
  deps: Deps,
  { project }: ChannelContext,
  thread: ThreadRow,
  { caller, name }: Member,
  { value, say }: { value: string; say(words: string): Promise<unknown> },
): Promise<void> {
  const shown = parseJson(value);
  const number = numberField(shown, "cr");
  const head = textField(shown, "head");
  if (number === null || !COMMIT.test(head) || !(await isPosted(deps, thread, number))) return;
  const {
    merge: merged,
    queue,
    base_ref,
  } = await mergeChangeRequest(deps, caller, project, String(number), {
    head_commit_sha: head,
  });
  if (merged) return;
  const place = queue?.position == null ? "" : `, at position ${queue.position}`;
  await say(
    `${escapeLine(name, NAME_MAX)}: #${number} is in the merge queue of ${escapeLine(base_ref, NAME_MAX)}${place}. It is merged once the checks of the merged result have passed.`,
  );
}

/** @throws not_waiting, sandbox_unreachable, not_found */
async function answer(
  deps: Deps,
  { project }: ChannelContext,
  { sessionId }: ThreadRow,
  { caller }: Member,
  value: string,
): Promise<void> {
  const chosen = readAnswer(value);
  const reached = await reachSession(deps, sessionId);
  if (!chosen || !reached) return;
  const ask = openRequest(reached.session);
  const reply = ask && ask.request_id === chosen.ask ? answerOf(ask, chosen.option) : null;
  if (!ask || reply === null)
    throw new SvcError(
      "not_waiting",
      "The question was answered already, or the agent waits for it no more.",
    );
  const body = { request_id: ask.request_id, answer: reply };
  await answerSession(deps, caller.userId, project, sessionId, body);
}
