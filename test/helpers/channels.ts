import { randomUUID } from "node:crypto";
import type { Channel } from "../../src/contract/channel.ts";
import { messageEndOf } from "../../src/contract/prompt-message.ts";
import type { Deps } from "../../src/deps.ts";
import { type Answer, type Api, startApi } from "./api.ts";
import { Remote } from "./remote.ts";
import { type PostedMessage, type Signing, type SlackStandIn, sendSigned, startSlack } from "./slack.ts";
import { StandInProvider } from "./stand-in-provider.ts";
import { until } from "./until.ts";

export const OWNER = "U0OWNER1";
export const STRANGER = "U0OTHER1";
export const GENERAL = "C0GENERAL";
export const DIRECT = "D0DIRECT1";

/** A server with a project, a stand-in for Slack, and agents that a test scripts. */
export interface ChannelBench {
  api: Api;
  slack: SlackStandIn;
  provider: StandInProvider;
  remote: Remote;
  projectId: string;
  /** Below the project's path. */
  call(method: string, path: string, options?: Parameters<Api["call"]>[2]): Promise<Answer>;
  connect(room?: string): Promise<Channel>;
  /** Sends an event of this workspace; the answer's status. */
  send(event: Record<string, unknown>, how?: Signing & { outer?: Record<string, unknown> }): Promise<number>;
  /** Mentions the bot in the channel. @returns the message's ts */
  mention(text: string, more?: Record<string, unknown>): Promise<string>;
  /** Clicks a button of a message. */
  click(message: PostedMessage, actionId: string, more?: Record<string, unknown>): Promise<number>;
  /** Waits until a thread has a message with this text. */
  said(thread: string, text: string | RegExp): Promise<PostedMessage>;
  /** What the agent answers to each prompt; a test changes it. */
  answer: (text: string) => string;
  /** The open requests of agents, and the replies to them. */
  asks: Record<string, unknown>[];
  replies: { path: string; body: unknown }[];
  /** Whether agents are still working. */
  isWorking: boolean;
  stop(how?: { keepData?: boolean }): Promise<void>;
}

let sent = 0;
/** An id of a message, each later than the one before. */
export const newTs = () => `1732000000.${String(++sent).padStart(6, "0")}`;

export async function startChannels(
  options: {
    env?: Record<string, string>;
    deps?: Partial<Deps>;
    dataDir?: string;
    slack?: SlackStandIn;
  } = {},
): Promise<ChannelBench> {
  const provider = new StandInProvider();
  const runtime = new Agents();
  const slack = options.slack ?? startSlack();
  slack.people.set(OWNER, { email: "First@Example.com" });
  slack.people.set(STRANGER, { email: "stranger@example.com" });
  const api = await startApi({
    ...(options.dataDir !== undefined && { dataDir: options.dataDir }),
    env: { SVC_ALLOW_PRIVATE_ADDRESSES: "1", SVC_SLACK_API_URL: slack.url, ...options.env },
    deps: { sandboxes: provider.sandboxesOf, ...options.deps },
  });
  const remote = new Remote();
  remote.commit("main", { a: "1\n" });
  const { project_id: projectId } = await api.project(remote.url);
  const call: ChannelBench["call"] = (method, path, more) =>
    api.call(method, `/v1/projects/${projectId}${path}`, more);
  const bench: ChannelBench = {
    api,
    slack,
    provider,
    remote,
    projectId,
    call,
    async connect(room) {
      const body = {
        ...{ kind: "slack", bot_token: slack.token, signing_secret: slack.signingSecret },
        ...(room !== undefined && { slack_channel: room }),
      };
      const made = await call("POST", "/channels", { body });
      if (made.status !== 201) throw new Error(`not connected: ${made.status} ${made.text}`);
      return made.body;
    },
    async send(event, { outer, ...how } = {}) {
      const body = {
        ...{ token: "x", team_id: slack.teamId, api_app_id: slack.appId, type: "event_callback" },
        ...{ event_id: `Ev${randomUUID()}`, event_time: 1, event, ...outer },
      };
      return (await sendSigned(`${api.url}/v1/channels/slack/events`, slack, JSON.stringify(body), how))
        .status;
    },
    async mention(text, more = {}) {
      const ts = newTs();
      const status = await bench.send({
        ...{ type: "app_mention", channel: GENERAL, user: OWNER, ts, text: `<@${slack.botUserId}> ${text}` },
        ...more,
      });
      if (status !== 200) throw new Error(`the mention was refused: ${status}`);
      return ts;
    },
    async click({ channel, ts, thread, blocks }, actionId, more = {}) {
      const buttons = blocks.flatMap(({ elements = [] }) => elements);
      const value = buttons.find(({ action_id }) => action_id === actionId)?.value;
      const payload = {
        ...{ type: "block_actions", api_app_id: slack.appId, team: { id: slack.teamId } },
        ...{ user: { id: OWNER }, channel: { id: channel }, message: { ts, thread_ts: thread } },
        actions: [{ type: "button", action_id: actionId, value, action_ts: newTs() }],
        ...more,
      };
      const body = `payload=${encodeURIComponent(JSON.stringify(payload))}`;
      return (await sendSigned(`${api.url}/v1/channels/slack/interactions`, slack, body)).status;
    },
    async said(thread, text) {
      const find = () =>
        slack
          .thread(thread)
          .find((message) =>
            typeof text === "string" ? message.text.includes(text) : text.test(message.text),
          );
      await until(
        () => `${text} is said, besides ${JSON.stringify(slack.thread(thread).map((each) => each.text))}`,
        () => find() !== undefined,
      );
      const found = find();
      if (!found) throw new Error("the message is gone");
      return found;
    },
    answer: (text) => `I did: ${text}`,
    get asks() {
      return runtime.asks;
    },
    set asks(asks) {
      runtime.ask(asks);
    },
    replies: [],
    get isWorking() {
      return runtime.isWorking;
    },
    set isWorking(isWorking) {
      runtime.work(isWorking);
    },
    async stop(how) {
      await api.stop(how);
      await provider.close();
      if (!options.slack) await slack.stop();
      if (!how?.keepData) remote.remove();
    },
  };
  provider.firstHealth = { conversation: "ses_one" };
  provider.onPrompt = () => ({ state: bench.isWorking ? "running" : "answered", error: null });
  provider.onRequest = async (request, standIn) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/event") return runtime.stream();
    if (pathname === "/session/status")
      return Response.json(runtime.isWorking ? { ses_one: { type: "busy" } } : {});
    // what the agent works with is told beside the asks
    if (pathname.startsWith("/svc/choice")) return Response.json({});
    if (request.method === "POST") {
      bench.replies.push({ path: pathname, body: await request.json() });
      runtime.ask(runtime.asks.filter(({ id }) => !pathname.includes(String(id))));
      return Response.json(true);
    }
    if (pathname === "/question") return Response.json(runtime.asks.filter((ask) => "questions" in ask));
    if (pathname === "/permission") return Response.json(runtime.asks.filter((ask) => "permission" in ask));
    if (pathname !== "/session/ses_one/message") return new Response(null, { status: 404 });
    return Response.json(
      standIn.prompts.flatMap(({ prompt_id, text }) =>
        turn(`msg_0${messageEndOf(prompt_id)}`, text, bench.answer(text)),
      ),
    );
  };
  return bench;
}

/** What the agents of all sandboxes do, with the runtime's events about it. */
class Agents {
  asks: Record<string, unknown>[] = [];
  isWorking = false;
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array>>();

  ask(asks: Record<string, unknown>[]): void {
    const before = this.asks;
    this.asks = asks;
    for (const ask of asks) {
      if (before.includes(ask)) continue;
      this.#emit("questions" in ask ? "question.asked" : "permission.asked", ask);
    }
    for (const { id } of before)
      if (asks.every((ask) => ask["id"] !== id)) this.#emit("question.replied", { requestID: id });
  }

  work(isWorking: boolean): void {
    this.isWorking = isWorking;
    this.#emit("session.status", { sessionID: "ses_one", status: { type: isWorking ? "busy" : "idle" } });
  }

  stream(): Response {
    let own: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        own = controller;
        this.#streams.add(controller);
        controller.enqueue(eventOf("server.connected", {}));
      },
      cancel: () => void this.#streams.delete(own),
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  }

  #emit(type: string, properties: object): void {
    for (const stream of this.#streams) stream.enqueue(eventOf(type, properties));
  }
}

const eventOf = (type: string, properties: object): Uint8Array =>
  new TextEncoder().encode(`data: ${JSON.stringify({ type, properties })}\n\n`);

/** A prompt and its answer, as the runtime lists them. */
function turn(id: string, prompt: string, answer: string) {
  const part = (messageID: string, text: string) => ({
    ...{
      id: `prt_${messageID}`,
      messageID,
      sessionID: "ses_one",
      type: "text",
      text,
      time: { start: 1, end: 2 },
    },
  });
  const reply = `${id}a`;
  return [
    { info: { id, role: "user", sessionID: "ses_one" }, parts: [part(id, prompt)] },
    {
      info: {
        ...{ id: reply, role: "assistant", parentID: id, sessionID: "ses_one" },
        ...{ time: { created: 1, completed: 2 }, finish: "stop" },
      },
      parts: [part(reply, answer)],
    },
  ];
}
