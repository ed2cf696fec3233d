import {
  type ChatPostMessageArguments,
  SlackError as LibraryError,
  type Logger,
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebClient,
} from "@slack/web-api";
import { HIDDEN } from "../../../contract/hidden.ts";
import { arrayOf, field, textField } from "../../../contract/json.ts";
import type { Deps } from "../../../deps.ts";
import { OutboundError } from "../../../lib/outbound.ts";

/** For one call of Slack's API, with the answer. */
const CALL_MS = 15_000;
/** Longer waits would only hold the task; it is tried again by then, too. */
const RETRY_AFTER_MAX_S = 3_600;
/** Characters of a name from Slack. */
const NAME_MAX = 100;

/** The blocks of a message (Slack: Block Kit). */
export type Blocks = Extract<ChatPostMessageArguments, { blocks: unknown }>["blocks"];

/** A message to a conversation; with `thread`, a reply in that thread. */
export interface ChatMessage {
  room: string;
  thread?: string | undefined;
  /** In Slack's markup, already escaped; shown in notifications if there are blocks. */
  text: string;
  blocks?: Blocks | undefined;
}

/** The app and workspace that a bot token belongs to. */
export interface SlackIdentity {
  teamId: string;
  teamName: string;
  botUserId: string;
  appId: string;
  scopes: string[];
}

/** A person of the workspace. */
export interface SlackUser {
  teamId: string;
  email: string;
  /** Neither a bot, nor deactivated, nor a guest of another workspace. */
  isPerson: boolean;
  isEmailConfirmed: boolean;
}

/** The methods of Slack's API that svc calls. Each throws a `SlackError`. */
export interface Slack {
  identify(): Promise<SlackIdentity>;
  user(userId: string): Promise<SlackUser>;
  /** @returns the id of the message */
  post(message: ChatMessage): Promise<string>;
  update(message: ChatMessage & { ts: string }): Promise<void>;
}

/** A call of Slack's API that failed. The message contains no credential. */
export class SlackError extends Error {
  override readonly name = "SlackError";
  /** Slack's code, such as `channel_not_found`, or `unreachable` or `ratelimited`. */
  readonly code: string;
  /** Seconds until Slack accepts the call. */
  readonly retryAfter: number;

  constructor(code: string, retryAfter = 0) {
    super(`Slack answered: ${code}`);
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** Whether the same call may succeed later. */
  get isTransient(): boolean {
    return TRANSIENT.has(this.code);
  }
}

const TRANSIENT: ReadonlySet<string> = new Set([
  ...["unreachable", "ratelimited", "rate_limited", "internal_error", "fatal_error"],
  ...["service_unavailable", "team_added_to_org", "request_timeout", "message_limit_exceeded"],
]);

/**
 * A client for one workspace: the official one, without its retries, which would outlive the task, and over svc's
 * guarded client for outgoing requests, with its limits.
 */
export function slackOf({ outbound, config }: Pick<Deps, "outbound" | "config">, botToken: string): Slack {
  const client = new WebClient(botToken, {
    slackApiUrl: `${config.slackApiUrl}/`,
    allowAbsoluteUrls: false,
    logger: SILENT,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: CALL_MS,
    async fetch(url, { method, headers, body, signal } = {}) {
      if (typeof body !== "string") throw new TypeError("a call of Slack's API has no text as its body");
      return await outbound(url, { method, headers, body, signal: signal ?? null });
    },
  });

  return {
    async identify() {
      const own = await call(client.auth.test());
      const bot = await call(client.bots.info({ bot: textField(own, "bot_id") }));
      return {
        teamId: textField(own, "team_id"),
        teamName: nameOf(textField(own, "team")),
        botUserId: textField(own, "user_id"),
        appId: textField(field(bot, "bot"), "app_id"),
        scopes: arrayOf(field(field(own, "response_metadata"), "scopes")).flatMap((scope) =>
          typeof scope === "string" ? scope : [],
        ),
      };
    },
    async user(userId) {
      const user = field(await call(client.users.info({ user: userId })), "user");
      const isOther = ["deleted", "is_bot", "is_stranger", "is_restricted", "is_ultra_restricted"].some(
        (name) => field(user, name) === true,
      );
      return {
        teamId: textField(user, "team_id"),
        email: textField(field(user, "profile"), "email"),
        isPerson: user !== undefined && !isOther,
        isEmailConfirmed: field(user, "is_email_confirmed") !== false,
      };
    },
    async post({ room, thread, text, blocks }) {
      const posted = await call(
        client.chat.postMessage({
          channel: room,
          text,
          ...(thread !== undefined && { thread_ts: thread }),
          ...(blocks && { blocks }),
          ...PLAIN,
        }),
      );
      return textField(posted, "ts");
    },
    async update({ room, ts, text, blocks }) {
      await call(
        // without blocks, those of the message would stay
        client.chat.update({
          channel: room,
          ts,
          text,
          blocks: blocks ?? [],
          parse: "none",
          link_names: false,
        }),
      );
    },
  };
}

/** Names in a text mention nobody, and links show no preview. */
const PLAIN = { parse: "none", link_names: false, unfurl_links: false, unfurl_media: false } as const;

async function call(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    throw toSlackError(error);
  }
}

function toSlackError(error: unknown): unknown {
  if (error instanceof WebAPIRateLimitedError)
    return new SlackError("ratelimited", Math.min(Math.max(error.retryAfter, 1), RETRY_AFTER_MAX_S));
  if (error instanceof WebAPIPlatformError) {
    const code = textField(error.data, "error");
    // other texts are not Slack's, but of a proxy in between
    return new SlackError(/^[a-z0-9_:.]{1,100}$/.test(code) ? code : "unreachable");
  }
  if (error instanceof WebAPIHTTPError)
    return new SlackError(error.statusCode >= 500 ? "unreachable" : `http_${error.statusCode}`);
  const isOfConnection = error instanceof LibraryError || error instanceof OutboundError;
  return isOfConnection ? new SlackError("unreachable") : error;
}

function nameOf(text: string): string {
  return text.replace(HIDDEN, " ").slice(0, NAME_MAX).toWellFormed();
}

/** The client's own log has headers and bodies. */
const SILENT: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => LogLevel.ERROR,
  setName() {},
};
