import { type Attachment, base64Of, filePart } from "../contract/attachment.ts";
import { CONVERSATION_ID, modelOf, ownConversation } from "../contract/conversation.ts";
import { arrayOf, field, textField } from "../contract/json.ts";
import { referencedNumbers } from "../contract/reference.ts";
import type { AnswerBody, Session } from "../contract/session.ts";
import type { Snapshot } from "./conversation-event.ts";
import { type Ask, askOf, messageOf, partOf, statusOf } from "./runtime-event.ts";
import { codeOf, isTransient as isTransientRequest, type Transport } from "./transport.ts";

/** The agent runtime of a session, through the API's proxy. */
export interface Runtime {
  readonly session: Session;
  /** Milliseconds since 1970 by the runtime's clock, never ahead of it; by the local clock while that is unknown. */
  now(): number;
  /** The id of the session's one conversation, which is created if it does not exist. */
  conversation(): Promise<string>;
  /** @throws if the session has no sandbox any more */
  checkAlive(): Promise<void>;
  /** The event stream. */
  events(signal: AbortSignal, silentSeconds: number): Promise<AsyncIterable<Uint8Array>>;
  /** The error for a response that is not the runtime's. */
  unexpected(what: string): Error;
  snapshot(conversation: string): Promise<Snapshot>;
  /** @param messageId chosen by the client, so that a retry is not a second prompt */
  prompt(conversation: string, messageId: string, text: string, files?: readonly Attachment[]): Promise<void>;
  /** The change requests that a prompt mentions, as files for the agent. */
  references(text: string): Promise<Attachment[]>;
  abort(conversation: string): Promise<void>;
  /** Whether the runtime reports the conversation as idle. */
  isIdle(conversation: string): Promise<boolean>;
  asks(): Promise<Ask[]>;
  allow(askId: string, reply: "once" | "always" | "reject"): Promise<void>;
  /** An answer for each question: the chosen labels, or free text. */
  answer(askId: string, answers: string[][]): Promise<void>;
  refuse(ask: Ask): Promise<void>;
}

/** The port of a sandbox's daemon, which forwards to the runtime. */
const DAEMON = 8000;
/** Messages in a snapshot, the last ones: enough for a run of many steps between two snapshots. */
export const SNAPSHOT_MESSAGES = 200;
/** Sessions of the runtime, subagents among them. */
const SESSIONS = 1000;
const ROOTS = { roots: "true", limit: SESSIONS };

/** @param checkAlive see `Runtime` */
export function runtimeOf(
  transport: Transport,
  session: Session,
  checkAlive: Runtime["checkAlive"],
): Runtime {
  const base = `/p/${session.session_id}/${DAEMON}`;
  let clock: { time: number; at: number } | null = null;
  const get = (route: string, query?: Record<string, string | number>) => transport.get(base + route, query);
  const post = (route: string, body: unknown = {}) => transport.post(base + route, body);
  const asks = async () => {
    const lists = await Promise.all([get("/permission"), get("/question")]);
    return lists.flatMap((found) => arrayOf(found).flatMap((value) => askOf(value) ?? []));
  };

  const respond = (askId: string, answer: AnswerBody["answer"]) =>
    respondTo(transport, session, askId, answer);

  return {
    session,
    // behind by the response time
    now: () => (clock ? Math.floor(clock.time + performance.now() - clock.at) : Date.now()),
    async conversation() {
      const health = await get("/svc/health");
      const time = Date.parse(textField(health, "time"));
      if (Number.isFinite(time)) clock = { time, at: performance.now() };
      const named = textField(health, "conversation");
      if (CONVERSATION_ID.test(named)) return named;
      const found = ownConversation(await get("/session", ROOTS));
      if (found) return found;
      await post("/session");
      // another client may have created one first
      const opened = ownConversation(await get("/session", ROOTS));
      if (opened) return opened;
      throw transport.unexpected("no conversation of the agent's");
    },
    checkAlive,
    events: (signal, silentSeconds) => transport.stream(`${base}/event`, { signal, silentSeconds }),
    unexpected: transport.unexpected,
    async snapshot(conversation) {
      const own = `/session/${conversation}/message`;
      const [messages, statuses, sessions, waiting] = await Promise.all([
        get(own, { limit: SNAPSHOT_MESSAGES }),
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
    async prompt(conversation, messageID, text, files = []) {
      const chosen = await readChosen(transport, session);
      await post(`/session/${conversation}/prompt_async`, {
        messageID,
        parts: [{ type: "text", text }, ...files.map(filePart)],
        ...chosen,
      });
    },
    references: (text) => readReferences(transport, session.project_id, text),
    async abort(conversation) {
      await post(`/session/${conversation}/abort`);
    },
    isIdle: async (conversation) =>
      statusOf(field(await get("/session/status"), conversation)).type === "idle",
    asks,
    allow: (askId, reply) => respond(askId, reply),
    answer: (askId, answers) => respond(askId, answers),
    async refuse({ id, kind }) {
      if (kind === "permission") await post(`/permission/${id}/reply`, { reply: "reject" });
      else await post(`/question/${id}/reject`);
    },
  };
}

/** What the next prompt is answered with: somebody may have chosen another model since the chat began. */
async function readChosen(transport: Transport, { project_id, session_id }: Session): Promise<object> {
  const now = await transport.get(`/projects/${project_id}/sessions/${session_id}`);
  const [agent, effort] = [textField(now, "agent_name"), textField(now, "effort")];
  return {
    ...(agent !== "" && { agent }),
    ...modelOf(textField(now, "model") || null),
    ...(effort !== "" && { variant: effort }),
  };
}

/** Answers not the runtime itself but svc, which records which person does. */
async function respondTo(
  transport: Transport,
  { project_id, session_id }: Session,
  request_id: string,
  answer: AnswerBody["answer"],
): Promise<void> {
  await transport.post(`/projects/${project_id}/sessions/${session_id}/answer`, { request_id, answer });
}

/** Whether a retry may succeed: network failures, a runtime or a server that starts. */
export function isTransient(failure: unknown): boolean {
  const code = codeOf(failure);
  return (
    isTransientRequest(failure) ||
    ["not_running", "unexpected_response"].includes(code) ||
    code.endsWith("_unreachable")
  );
}

async function readReferences(transport: Transport, projectId: string, text: string): Promise<Attachment[]> {
  const found = referencedNumbers(text).map((number) => readBrief(transport, projectId, number));
  return (await Promise.all(found)).flat();
}

/** Empty for a number that is not that of a change request. */
async function readBrief(transport: Transport, projectId: string, number: number): Promise<Attachment[]> {
  const path = `/projects/${projectId}/change-requests/${number}/brief`;
  const brief = await transport.get(path).catch((error: unknown) => {
    if (codeOf(error) === "not_found") return null;
    throw error;
  });
  const [name, text] = [textField(brief, "name"), textField(brief, "text")];
  if (text === "") return [];
  return [{ name, type: "text/plain", data: base64Of(new TextEncoder().encode(text)) }];
}

function readMessage(value: unknown): Snapshot["messages"] {
  const message = messageOf(field(value, "info"));
  return message
    ? [{ message, parts: arrayOf(field(value, "parts")).flatMap((each) => partOf(each) ?? []) }]
    : [];
}
