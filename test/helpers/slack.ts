import { createHmac } from "node:crypto";

/** A call of Slack's API, as the stand-in got it. */
interface SlackCall {
  method: string;
  token: string;
  args: Record<string, string>;
}

/** A message in the workspace. */
export interface PostedMessage {
  channel: string;
  ts: string;
  thread: string | null;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer's JSON is looked into by the assertions of the tests
  blocks: any[];
  /** The texts that it had before. */
  earlier: string[];
}

interface SlackPerson {
  email?: string;
  /** More fields of the user's object. */
  more?: Record<string, unknown>;
}

/**
 * Stands in for Slack's Web API on loopback, as https://docs.slack.dev documents it: the five methods that svc calls, with
 * their arguments as a form, their errors, and the limits of messages and blocks.
 */
export interface SlackStandIn {
  /** For SVC_SLACK_API_URL. */
  url: string;
  teamId: string;
  appId: string;
  botUserId: string;
  token: string;
  signingSecret: string;
  scopes: string[];
  people: Map<string, SlackPerson>;
  /** Channels that the bot is in. */
  channels: Set<string>;
  messages: PostedMessage[];
  calls: SlackCall[];
  /** Answers a call instead of the stand-in; a test changes it. */
  onCall: (call: SlackCall) => Response | null | Promise<Response | null>;
  /** Called once a call has had its effect, before its answer is sent; a test changes it. */
  beforeAnswer: (call: SlackCall) => void | Promise<void>;
  /** The messages of a thread, oldest first. */
  thread(ts: string): PostedMessage[];
  stop(): Promise<void>;
}

const SCOPES =
  "app_mentions:read,channels:history,chat:write,groups:history,im:history,users:read,users:read.email";

export function startSlack(of: Partial<Pick<SlackStandIn, "teamId" | "appId" | "token">> = {}): SlackStandIn {
  let count = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const method = new URL(request.url).pathname.replace("/api/", "");
      const args = Object.fromEntries(new URLSearchParams(await request.text()));
      const token = (request.headers.get("authorization") ?? "").replace("Bearer ", "");
      const call = { method, token, args };
      slack.calls.push(call);
      const answered = (await slack.onCall(call)) ?? answer(call);
      await slack.beforeAnswer(call);
      return answered;
    },
  });
  const slack: SlackStandIn = {
    url: `http://127.0.0.1:${server.port}/api`,
    teamId: "T0TEAM1",
    appId: "A0APP1",
    botUserId: "U0BOT1",
    token: "xoxb-1111111111-secretbottoken",
    signingSecret: "8f742231b10e8888abcd99yyyzzz85a5".replace(/[g-z]/g, "0"),
    scopes: SCOPES.split(","),
    people: new Map(),
    channels: new Set(["C0GENERAL", "D0DIRECT1"]),
    messages: [],
    calls: [],
    onCall: () => null,
    beforeAnswer: () => {},
    thread: (ts) => slack.messages.filter((message) => message.thread === ts),
    stop: () => server.stop(true),
    ...of,
  };

  function answer({ method, token, args }: SlackCall): Response {
    if (token === "") return failed("not_authed");
    if (token !== slack.token) return failed("invalid_auth");
    switch (method) {
      case "auth.test":
        return ok({
          ...{ url: "https://acme.slack.com/", team: "Acme <b>", user: "svc", team_id: slack.teamId },
          ...{ user_id: slack.botUserId, bot_id: "B0BOT1", is_enterprise_install: false },
        });
      case "bots.info":
        if (args["bot"] !== "B0BOT1") return failed("bot_not_found");
        return ok({ bot: { id: "B0BOT1", app_id: slack.appId, user_id: slack.botUserId, name: "svc" } });
      case "users.info":
        return user(args["user"] ?? "");
      case "chat.postMessage":
        return post(args);
      case "chat.update":
        return update(args);
    }
    return failed("unknown_method");
  }

  function ok(body: object): Response {
    return Response.json({ ok: true, ...body }, { headers: { "x-oauth-scopes": slack.scopes.join(",") } });
  }

  function user(id: string): Response {
    const person = slack.people.get(id);
    if (!person) return failed("user_not_found");
    const profile = { ...(person.email !== undefined && { email: person.email }), real_name: id };
    const flags = { deleted: false, is_bot: false, is_restricted: false, is_ultra_restricted: false };
    return ok({
      user: { id, team_id: slack.teamId, ...flags, is_email_confirmed: true, profile, ...person.more },
    });
  }

  function post(args: Record<string, string>): Response {
    const { channel = "", text = "", thread_ts } = args;
    if (!slack.channels.has(channel)) return failed("channel_not_found");
    const problem = problemOf(args);
    if (problem) return failed(problem);
    const ts = `1700000000.${String(++count).padStart(6, "0")}`;
    const blocks = JSON.parse(args["blocks"] ?? "[]");
    slack.messages.push({ channel, ts, thread: thread_ts ?? null, text, blocks, earlier: [] });
    return ok({ channel, ts, message: { text, bot_id: "B0BOT1" } });
  }

  function update(args: Record<string, string>): Response {
    const found = slack.messages.find(({ channel, ts }) => channel === args["channel"] && ts === args["ts"]);
    if (!found) return failed("message_not_found");
    const problem = problemOf(args);
    if (problem) return failed(problem);
    found.earlier.push(found.text);
    found.text = args["text"] ?? "";
    if (args["blocks"] !== undefined) found.blocks = JSON.parse(args["blocks"]);
    return ok({ channel: found.channel, ts: found.ts, text: found.text });
  }

  return slack;
}

function failed(error: string): Response {
  return Response.json({ ok: false, error });
}

/** The limits of messages and of Block Kit. */
function problemOf({ text = "", blocks = "[]" }: Record<string, string>): string | null {
  if (text === "" && blocks === "[]") return "no_text";
  if (text.length > 40_000) return "msg_too_long";
  const isValid = JSON.parse(blocks).every(isValidBlock);
  return isValid ? null : "invalid_blocks";
}

// biome-ignore lint/suspicious/noExplicitAny: checks what it is given
function isValidBlock(block: any): boolean {
  if (block.type === "section") return block.text.text.length >= 1 && block.text.text.length <= 3_000;
  const { elements } = block;
  const ids = new Set(elements.map((element: { action_id: string }) => element.action_id));
  return (
    block.type === "actions" &&
    elements.length >= 1 &&
    elements.length <= 25 &&
    ids.size === elements.length &&
    elements.every(
      // biome-ignore lint/suspicious/noExplicitAny: checks what it is given
      ({ type, text, value }: any) =>
        type === "button" && text.type === "plain_text" && text.text.length <= 75 && value.length <= 2_000,
    )
  );
}

/** How a request of Slack differs from a right one. */
export interface Signing {
  secret?: string;
  /** Seconds since 1970. */
  timestamp?: number;
  headers?: Record<string, string>;
}

/** Sends a body as Slack does, signed (Verifying requests from Slack). */
export async function sendSigned(
  url: string,
  slack: SlackStandIn,
  body: string,
  { secret = slack.signingSecret, timestamp = Math.floor(Date.now() / 1000), headers = {} }: Signing = {},
): Promise<Response> {
  const mac = createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex");
  return await fetch(url, {
    method: "POST",
    headers: {
      "Content-Type": body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded",
      "X-Slack-Request-Timestamp": String(timestamp),
      "X-Slack-Signature": `v0=${mac}`,
      ...headers,
    },
    body,
  });
}
