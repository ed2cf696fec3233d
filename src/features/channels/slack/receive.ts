import { and, asc, desc, eq, inArray, isNotNull, or } from "drizzle-orm";
import { channels, channelTasks, channelThreads } from "../../../../db/schema/index.ts";
import type { SlackAccepted } from "../../../contract/channel.ts";
import { SvcError } from "../../../contract/errors.ts";
import { field, parseJson, textField } from "../../../contract/json.ts";
import type { Deps } from "../../../deps.ts";
import { addressOf, countAttempt, type Limit } from "../../../identity/auth/attempts.ts";
import { ANSWER_ACTION } from "../ask-message.ts";
import { type ChannelRow, openSecrets } from "../rows.ts";
import { addTask, clickKey, messageKey, TASKS_WAITING_MAX } from "../tasks.ts";
import { readClick, readMessage, type SlackMessage } from "./payload.ts";
import { readSlackRequest, type SlackRequest, unsigned } from "./signature.ts";

/** Wrong signatures from one address: setting up an app takes a few tries. */
const WRONG: Limit = { name: "slack signature", max: 30, windowS: 60 };
/** Connections by one app in one workspace, and those that a URL verification, which names no workspace, is tried with. */
const TRIED_MAX = 200;
const CHALLENGE_MAX = 1_000;
/** A URL verification is short, so that trying it with many secrets is cheap. */
const VERIFICATION_MAX = 4_000;

type ReceiveDeps = Pick<Deps, "db" | "keys" | "clock" | "databaseTime" | "changes" | "log">;
const ACCEPTED: SlackAccepted = { ok: true };

/**
 * Receives a request of Slack's Events API. What it asks for is recorded before the answer, and done afterwards by the
 * worker of any server; the same message is recorded once, however often Slack sends it.
 * @throws unauthorized, payload_too_large, rate_limited
 */
export async function receiveEvent(deps: ReceiveDeps, request: Request): Promise<SlackAccepted> {
  const signed = await readSlackRequest(deps, request);
  const body = parseJson(signed.body);
  if (textField(body, "type") === "url_verification") {
    const tried = signed.body.length > VERIFICATION_MAX ? [] : await newest(deps);
    await requireSigner(deps, request, signed, tried);
    const challenge = textField(body, "challenge");
    if (challenge.length > CHALLENGE_MAX)
      throw new SvcError("validation_failed", "The challenge is too long.");
    return { ok: true, challenge };
  }
  const found = await ofWorkspace(deps, textField(body, "team_id"), textField(body, "api_app_id"));
  const signers = await requireSigner(deps, request, signed, found);
  if (textField(body, "type") !== "event_callback") return ACCEPTED;
  const message = readMessage(field(body, "event"), signers[0]?.botUserId ?? "");
  if (message) await accept(deps, signers, message);
  return ACCEPTED;
}

/** Receives a click on a button of one of the bot's messages. @throws as `receiveEvent` */
export async function receiveInteraction(deps: ReceiveDeps, request: Request): Promise<SlackAccepted> {
  const signed = await readSlackRequest(deps, request);
  const payload = parseJson(new URLSearchParams(signed.body).get("payload") ?? "");
  const team = textField(field(payload, "team"), "id");
  const found = await ofWorkspace(deps, team, textField(payload, "api_app_id"));
  const signers = await requireSigner(deps, request, signed, found);
  const click = readClick(payload);
  if (!click) return ACCEPTED;
  const known = await knownThread(deps, signers, click);
  if (!known) return ACCEPTED;
  await refuseWhenFull(deps, known.channel);
  await addTask(deps, {
    channelId: known.channel.channelId,
    key: clickKey(click),
    kind: "click",
    payload: { ...click },
    // the agent's question is answered by the server that reaches its sandbox
    ...(ANSWER_ACTION.test(click.actionId) && { sessionId: known.sessionId }),
  });
  return ACCEPTED;
}

async function accept(
  deps: ReceiveDeps,
  signers: readonly ChannelRow[],
  message: SlackMessage,
): Promise<void> {
  const routed = channelFor(signers, message);
  const channel = routed ?? signers[0];
  if (!channel) return;
  const isAddressed = message.isMention || message.isDirect;
  // what people say to each other elsewhere is not stored
  if (!isAddressed && !(routed && (await isOurs(deps, routed, message)))) return;
  await refuseWhenFull(deps, channel);
  await addTask(deps, {
    channelId: channel.channelId,
    key: messageKey(message),
    kind: "message",
    payload: { ...message, isRouted: routed !== null },
  });
}

/**
 * The connection for a message: that of its channel, else that of the whole workspace. A direct message, which is in no
 * channel, is also for the only connection that there is.
 */
export function channelFor(
  signers: readonly ChannelRow[],
  { room, isDirect }: Pick<SlackMessage, "room" | "isDirect">,
): ChannelRow | null {
  const found = signers.find((row) => row.room === room) ?? signers.find((row) => row.room === "");
  if (found) return found;
  return isDirect && signers.length === 1 ? (signers[0] ?? null) : null;
}

async function ofWorkspace({ db }: ReceiveDeps, teamId: string, appId: string): Promise<ChannelRow[]> {
  const areIds = [teamId, appId].every((id) => /^[A-Z][A-Z0-9]{2,30}$/.test(id));
  if (!areIds) return [];
  return await db
    .select()
    .from(channels)
    .where(and(eq(channels.teamId, teamId), eq(channels.appId, appId)))
    .orderBy(asc(channels.createdAt), asc(channels.channelId))
    .limit(TRIED_MAX);
}

async function newest({ db }: ReceiveDeps): Promise<ChannelRow[]> {
  return await db.select().from(channels).orderBy(desc(channels.createdAt)).limit(TRIED_MAX);
}

/** The connections whose signing secret signed the request. @throws unauthorized, rate_limited */
async function requireSigner(
  deps: ReceiveDeps,
  request: Request,
  signed: SlackRequest,
  rows: readonly ChannelRow[],
): Promise<ChannelRow[]> {
  /** Connections of one app have the same secret. */
  const tried = new Map<string, boolean>();
  const signers = rows.filter((row) => {
    const secret = openSecrets(deps, row)?.signingSecret;
    if (secret === undefined) return false;
    const isSigner = tried.get(secret) ?? signed.isSignedWith(secret);
    tried.set(secret, isSigner);
    return isSigner;
  });
  if (signers.length > 0) return signers;
  await countAttempt(deps, WRONG, addressOf(request));
  throw unsigned();
}

/** Whether a reply is in a thread that is a session, or whose first message waits to become one. */
async function isOurs(
  deps: ReceiveDeps,
  channel: ChannelRow,
  { room, thread }: SlackMessage,
): Promise<boolean> {
  if (await knownThread(deps, [channel], { room, thread })) return true;
  const first = and(
    eq(channelTasks.channelId, channel.channelId),
    eq(channelTasks.key, messageKey({ room, ts: thread })),
    isNotNull(channelTasks.dueAt),
  );
  return (await deps.db.$count(channelTasks, first)) > 0;
}

/** The connection that a thread belongs to; null for a thread that is no session. */
async function knownThread(
  { db }: ReceiveDeps,
  signers: readonly ChannelRow[],
  { room, thread }: Pick<SlackMessage, "room" | "thread">,
): Promise<{ channel: ChannelRow; sessionId: string } | null> {
  const [known] = await db
    .select({ channelId: channelThreads.channelId, sessionId: channelThreads.sessionId })
    .from(channelThreads)
    .where(
      and(
        inArray(
          channelThreads.channelId,
          signers.map(({ channelId }) => channelId),
        ),
        eq(channelThreads.room, room),
        eq(channelThreads.ts, thread),
      ),
    )
    .limit(1);
  const channel = signers.find(({ channelId }) => channelId === known?.channelId);
  return known && channel ? { channel, sessionId: known.sessionId } : null;
}

/** @throws rate_limited: Slack sends it again later */
async function refuseWhenFull({ db }: ReceiveDeps, { channelId }: ChannelRow): Promise<void> {
  const waiting = and(
    eq(channelTasks.channelId, channelId),
    isNotNull(channelTasks.dueAt),
    or(eq(channelTasks.kind, "message"), eq(channelTasks.kind, "click")),
  );
  if ((await db.$count(channelTasks, waiting)) < TASKS_WAITING_MAX) return;
  throw new SvcError(
    "rate_limited",
    `${TASKS_WAITING_MAX} messages of this channel are waiting.`,
    {},
    { "Retry-After": "60" },
  );
}
