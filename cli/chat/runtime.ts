import { CONVERSATION_TITLE, modelOf, ownConversation } from "../../src/contract/conversation.ts";
import { arrayOf, field, textField } from "../../src/contract/json.ts";
import type { Session } from "../../src/contract/session.ts";
import { type Api, path, readBounded } from "../api.ts";
import { unexpected } from "../api-failure.ts";
import { passes as mayPass } from "../commands/sessions/follow.ts";
import { shortId, statusText } from "../commands/sessions/show-session.ts";
import { failureText } from "../commands/sessions/watch.ts";
import { isRecord } from "../config.ts";
import { CliError } from "../failure.ts";
import type { Opened } from "../request.ts";
import { oneLine } from "../text.ts";
import type { Snapshot } from "./conversation.ts";
import { type Ask, askOf, messageOf, partOf, statusOf } from "./events.ts";

/** The agent runtime of a session, through the API's proxy. */
export interface Runtime {
  readonly session: Session;
  /** The id of the session's one conversation, which is opened if there is none. */
  conversation(): Promise<string>;
  /** Whether there is still a sandbox to wait for. @throws CliError `session_stopped`, `session_failed` where not */
  checkAlive(): Promise<void>;
  /** The event stream, with its body unread. */
  events(signal: AbortSignal, silentSeconds: number): Promise<Opened>;
  snapshot(conversation: string): Promise<Snapshot>;
  /** @param messageId one of ours: a prompt that is said twice is taken once */
  prompt(conversation: string, messageId: string, words: string): Promise<void>;
  abort(conversation: string): Promise<void>;
  /** Whether the conversation rests, as the runtime says. */
  isIdle(conversation: string): Promise<boolean>;
  asks(): Promise<Ask[]>;
  allow(askId: string, reply: "once" | "always" | "reject"): Promise<void>;
  /** An answer for each question: the labels that were chosen, or own words. */
  tell(askId: string, answers: string[][]): Promise<void>;
  refuse(ask: Ask): Promise<void>;
}

/** The port of a sandbox's daemon, which passes on to the runtime. */
const DAEMON = 8000;
/** Messages with which a chat begins, and catches up: a run of many steps between two looks fits in. */
const MESSAGES = 200;
/** Sessions of the runtime, subagents among them. */
const SESSIONS = 1000;
const ROOTS = { roots: "true", limit: SESSIONS };

export function runtimeOf(api: Api, session: Session): Runtime {
  const base = path`/p/${session.session_id}/${DAEMON}`;
  const get = async (route: string, query: Record<string, string | number> = {}) =>
    readValue(await api.open({ path: base + route, query }));
  const post = async (route: string, body: unknown = {}) =>
    readValue(await api.open({ method: "POST", path: base + route, body }));
  const asks = async () => {
    const lists = await Promise.all([get("/permission"), get("/question")]);
    return lists.flatMap((found) => arrayOf(found).flatMap((value) => askOf(value) ?? []));
  };

  return {
    session,
    async conversation() {
      const named = textField(await get("/svc/health"), "conversation");
      if (named !== "") return named;
      const found = ownConversation(await get("/session", ROOTS));
      if (found) return found;
      await post("/session", { title: CONVERSATION_TITLE });
      // who opened one in the same moment was perhaps the first
      const opened = ownConversation(await get("/session", ROOTS));
      if (opened) return opened;
      throw unexpected("no conversation of the agent's");
    },
    async checkAlive() {
      const own = path`/projects/${session.project_id}/sessions/${session.session_id}`;
      const now = await api.call<Session>({ path: own });
      const { status } = now;
      if (status !== "stopped" && status !== "failed") return;
      const why = status === "failed" ? failureText(now) : `The session is ${oneLine(statusText(now))}.`;
      const id = shortId(now);
      const hint =
        status === "failed"
          ? `To try again: svc sessions restart ${id}`
          : `To start it again and go on: svc sessions chat ${id}`;
      throw new CliError(`session_${status}`, why, { session_id: session.session_id, hint });
    },
    events: (signal, seconds) =>
      api.open({ path: `${base}/event`, accept: "text/event-stream", seconds, signal }),
    async snapshot(conversation) {
      const own = path`/session/${conversation}/message`;
      const [messages, statuses, sessions, waiting] = await Promise.all([
        get(own, { limit: MESSAGES }),
        get("/session/status"),
        get("/session", { limit: SESSIONS }),
        asks(),
      ]);
      return {
        messages: arrayOf(messages).flatMap(readMessage),
        status: statusOf(field(statuses, conversation)),
        asks: waiting,
        sessions: arrayOf(sessions).map((each) => ({
          id: textField(each, "id"),
          parentId: textField(each, "parentID") || null,
        })),
      };
    },
    async prompt(conversation, messageID, words) {
      await post(path`/session/${conversation}/prompt_async`, {
        messageID,
        parts: [{ type: "text", text: words }],
        ...(session.agent_name !== null && { agent: session.agent_name }),
        ...modelOf(session.model),
      });
    },
    async abort(conversation) {
      await post(path`/session/${conversation}/abort`);
    },
    async isIdle(conversation) {
      return statusOf(field(await get("/session/status"), conversation)).type === "idle";
    },
    asks,
    async allow(askId, reply) {
      await post(path`/permission/${askId}/reply`, { reply });
    },
    async tell(askId, answers) {
      await post(path`/question/${askId}/reply`, { answers });
    },
    async refuse({ id, kind }) {
      if (kind === "permission") await post(path`/permission/${id}/reply`, { reply: "reject" });
      else await post(path`/question/${id}/reject`);
    },
  };
}

/** Whether a failure may be over the next time: the network's, a runtime or a server that starts. */
export const passes = (failure: unknown): boolean =>
  failure instanceof CliError &&
  (mayPass(failure) ||
    ["not_running", "unexpected_response"].includes(failure.code) ||
    failure.code.endsWith("_unreachable"));

function readMessage(value: unknown): Snapshot["messages"] {
  const message = messageOf(field(value, "info"));
  return message
    ? [{ message, parts: arrayOf(field(value, "parts")).flatMap((each) => partOf(each) ?? []) }]
    : [];
}

/** An answer's JSON; null for one without a body. @throws CliError `unexpected_response` */
async function readValue(opened: Opened): Promise<unknown> {
  const answer = new TextDecoder().decode(await readBounded(opened));
  if (answer.trim() === "") return null;
  try {
    const value: unknown = JSON.parse(answer);
    if (isRecord(value) || Array.isArray(value) || value === true || value === false) return value;
  } catch {}
  throw unexpected("an answer that is not the agent runtime's");
}
