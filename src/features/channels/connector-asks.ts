import type { AnswerAskBody, ConnectorAsk } from "../../contract/connector.ts";
import { HIDDEN_IN_TEXT } from "../../contract/hidden.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { answerAsk, listAsks } from "../connectors/answer.ts";
import type { ChannelContext } from "./context.ts";
import type { Member } from "./member.ts";
import type { Relaying } from "./relay-state.ts";
import type { ThreadRow } from "./rows.ts";
import type { ChatMessage } from "./slack/client.ts";
import { escapeLine, link } from "./slack/mrkdwn.ts";

const APPROVE_ACTION = "svc_approve";
const DENY_ACTION = "svc_deny";
/** What the buttons of a call answer, by their action ids. */
export const CALL_ANSWERS: Readonly<Record<string, AnswerAskBody["answer"]>> = {
  [APPROVE_ACTION]: "approve",
  [DENY_ACTION]: "deny",
};

/** Calls with buttons in a thread at a time: an agent may ask for more than a person can read. */
const SHOWN_MAX = 5;
/** Slack: Block Kit allows 3,000 characters in a text. Whoever approves a call has to see all of it. */
const ARGUMENTS_MAX = 2_900;
const NAME_MAX = 150;

/** Posts the connector calls of a session that wait for approval, and updates those that were decided. */
export async function showConnectorAsks(deps: Deps, posting: Relaying): Promise<void> {
  const { relay, sessionId, project, slack, page, save } = posting;
  const { room, thread } = relay;
  const { asks } = await listAsks(deps, project, { pending: false, sessionId });
  for (const [askId, ts] of Object.entries(relay.calls)) {
    const ask = asks.find(({ ask_id }) => ask_id === askId);
    if (ask?.state === "pending") continue;
    await slack.update({ room, ts, ...closedMessage(ask) });
    const { [askId]: _, ...calls } = relay.calls;
    await save({ calls });
  }
  for (const ask of asks.filter(({ state }) => state === "pending").toReversed()) {
    if (Object.hasOwn(relay.calls, ask.ask_id)) continue;
    if (Object.keys(relay.calls).length >= SHOWN_MAX) return;
    const ts = await slack.post({ room, thread, ...openMessage(ask, page) });
    await save({ calls: { ...relay.calls, [ask.ask_id]: ts } });
  }
}

/**
 * Approves or denies the call of a button of this thread, and shows it in the message.
 * @throws not_found, ask_closed
 */
export async function answerConnectorAsk(
  deps: Deps,
  { slack, project }: ChannelContext,
  { room, sessionId }: ThreadRow,
  { caller }: Member,
  { askId, ts, answer }: { askId: string; ts: string; answer: AnswerAskBody["answer"] },
): Promise<void> {
  if (!(await isAskOf(deps, project, sessionId, askId))) return;
  const answered = await answerAsk(deps, caller, project, askId, { answer });
  await slack.update({ room, ts, ...closedMessage(answered) });
}

async function isAskOf(deps: Deps, project: ProjectRow, sessionId: string, askId: string): Promise<boolean> {
  const { asks } = await listAsks(deps, project, { pending: false, sessionId });
  return asks.some(({ ask_id }) => ask_id === askId);
}

function openMessage(ask: ConnectorAsk, page: string): Pick<ChatMessage, "text" | "blocks"> {
  const shown = ask.arguments.replace(HIDDEN_IN_TEXT, escaped);
  const isShown = shown.length <= ARGUMENTS_MAX;
  const text = `*The agent wants to call* ${nameOf(ask)}, once${isShown ? ":" : `. ${link(page, "Review the call on its page")}`}`;
  const header = { type: "section" as const, text: { type: "mrkdwn" as const, text } };
  if (!isShown) return { text, blocks: [header] };
  const plain = (words: string) => ({ type: "plain_text" as const, text: words, emoji: false });
  const button = (action: string, label: string) => ({
    type: "button" as const,
    action_id: action,
    text: plain(label),
    value: ask.ask_id,
  });
  const elements = [
    { ...button(APPROVE_ACTION, "Approve"), style: "primary" as const },
    button(DENY_ACTION, "Deny"),
  ];
  return {
    text,
    blocks: [header, { type: "section", text: plain(shown) }, { type: "actions", elements }],
  };
}

/** @param ask undefined: it was removed, since there are newer ones */
function closedMessage(ask: ConnectorAsk | undefined): Pick<ChatMessage, "text"> {
  if (ask === undefined) return { text: "Nobody decided on the call in time." };
  const by = escapeLine(ask.answered_by?.name ?? "", NAME_MAX);
  const outcome =
    ask.answered_by === null ? "expired" : `${ask.state === "denied" ? "denied" : "approved"} by ${by}`;
  return { text: `The call to ${nameOf(ask)} was ${outcome}.` };
}

const nameOf = ({ connector, tool }: ConnectorAsk) =>
  `${escapeLine(tool, NAME_MAX)} of the connector ${escapeLine(connector, NAME_MAX)}`;

/** As JSON writes it: the arguments are the same, and everything in them can be seen. */
const escaped = (character: string) =>
  [...Array(character.length).keys()]
    .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`)
    .join("");
