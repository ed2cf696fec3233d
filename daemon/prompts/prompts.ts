import { type Attachment, filePart } from "../../src/contract/attachment.ts";
import { modelOf } from "../../src/contract/conversation.ts";
import type { AgentChoice, DaemonPrompt } from "../../src/contract/daemon.ts";
import { SvcError } from "../../src/contract/errors.ts";
import { newMessageId } from "../../src/contract/message-id.ts";
import { messageEndOf } from "../../src/contract/prompt-message.ts";
import type { RunActivity } from "../activity.ts";
import type { Choosing } from "../choice.ts";
import { runningSessions } from "../runtime/abort.ts";
import { subscribeToRuntime } from "../runtime/events.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Settings } from "../settings.ts";
import { choiceProblem } from "./choice-problem.ts";
import { type Conversation, ConversationError } from "./conversation.ts";
import { type Outcome, outcomeOf, RESTARTED } from "./outcome.ts";
import { type PromptStatus, readPromptStatus } from "./prompt-status.ts";

interface NewPrompt {
  id: string;
  text: string;
  attachments?: readonly Attachment[];
  /** What it is answered with; absent: as the one before. */
  choice?: AgentChoice;
}

export interface PromptsContext {
  settings: Pick<Settings, "runtime" | "runtimePort">;
  runtime: Pick<Runtime, "state" | "pid" | "call" | "authorization">;
  conversation: Conversation;
  activity: Pick<RunActivity, "isHeld" | "notePrompt">;
  choosing: Pick<Choosing, "current" | "choose" | "apply">;
}

/** For the runtime to accept a prompt: a cold one reads its agents and plugins first. */
const CALL_MS = 30_000;
/** The interval of polls; an event of the runtime causes one at once. */
const CHECK_MS = 1_000;
/** How long one request waits for an outcome. */
const WAIT_MS = 15_000;
/** Prompts that are cached; the outcomes of older ones are read from the runtime. */
const CACHED_MAX = 100;

/** Sends prompts to the runtime, one at a time, and follows them to their outcomes. */
export class Prompts {
  readonly #context: PromptsContext;
  readonly #sent = new Map<string, SentPrompt>();
  #sending: Promise<unknown> = Promise.resolve();

  constructor(context: PromptsContext) {
    this.#context = context;
  }

  /**
   * Sends a prompt, unless it was sent before.
   * @param wait whether to wait for its outcome, for `WAIT_MS` at most
   * @throws SvcError session_busy while another run is under way, unavailable while the runtime is not ready
   */
  async send(prompt: NewPrompt, wait: boolean): Promise<DaemonPrompt> {
    const found = this.#sent.get(prompt.id) ?? (await this.#serialize(() => this.#start(prompt)));
    if (wait && !found.outcome) await Promise.race([found.settled, Bun.sleep(WAIT_MS)]);
    const { state, error } = found.outcome ?? { state: "running", error: null };
    return { prompt_id: prompt.id, state, error };
  }

  /** Notes that a client aborts all runs. */
  noteAbort(): void {
    for (const one of this.#open()) one.isAborted = true;
  }

  /** Settles all open prompts, before the runtime is ended. */
  cutOff(outcome: Outcome = RESTARTED): void {
    for (const one of this.#open()) one.settle(outcome);
  }

  #open(): SentPrompt[] {
    return [...this.#sent.values()].filter(({ outcome }) => outcome === null);
  }

  async #serialize<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#sending.then(work);
    this.#sending = turn.catch(() => {});
    return await turn;
  }

  async #start(prompt: NewPrompt): Promise<SentPrompt> {
    const { id } = prompt;
    const known = this.#sent.get(id);
    if (known) return known;
    if (this.#context.runtime.state !== "ok") throw notReady();
    const one = new SentPrompt(prompt);
    this.#remember(one);
    try {
      if (!(await this.#wasSent(one))) await this.#deliver(one, prompt.choice);
    } catch (error) {
      this.#sent.delete(id);
      throw error;
    }
    void this.#follow(one);
    return one;
  }

  #remember(one: SentPrompt): void {
    this.#sent.set(one.id, one);
    for (const [old, { outcome }] of this.#sent)
      if (this.#sent.size > CACHED_MAX && outcome !== null) this.#sent.delete(old);
  }

  /** Whether it was sent before, maybe by an earlier daemon with the same home. */
  async #wasSent(one: SentPrompt): Promise<boolean> {
    const { runtime, conversation } = this.#context;
    const id = await inConversation(conversation.find);
    if (id === null) return false;
    const status = await readPromptStatus(runtime.call, id, messagePredicate(one));
    if (status === null) throw notReady();
    one.isRecorded = status.isRecorded;
    return status.isRecorded;
  }

  /** @throws SvcError if it cannot be sent now; a permanent failure becomes its outcome */
  async #deliver(one: SentPrompt, choice = this.#context.choosing.current): Promise<void> {
    const { settings, runtime, conversation, activity, choosing } = this.#context;
    const running = await runningSessions(runtime.call);
    if (running === null) throw notReady();
    const isOther = this.#open().some((other) => other !== one);
    if (running.length > 0 || isOther || activity.isHeld)
      throw new SvcError("session_busy", "Another run is under way.", {}, { "Retry-After": "1" });
    await choosing.choose(choice);
    // the one before may have ended a moment ago
    await choosing.apply();
    if (runtime.state !== "ok") throw notReady();
    const problem = await choiceProblem(settings.runtime, choice, runtime.call);
    if (problem !== null) return one.settle({ state: "failed", error: problem });
    one.pid = runtime.pid;
    const id = await inConversation(conversation.open);
    const events = subscribe(this.#context, one, id);
    await events.ready;
    void one.settled.then(events.stop);
    activity.notePrompt();
    const path = `/session/${id}/prompt_async`;
    const answer = await runtime.call("POST", path, CALL_MS, bodyOf(choice, one)).catch(() => null);
    if (answer?.status === 204 || answer?.status === 200) return;
    // without a response, the prompt may have been accepted all the same
    if (answer === null && (await this.#wasSent(one))) return;
    if (answer?.status === 400) {
      const error = "The agent runtime refused the prompt.";
      return one.settle({ state: "failed", error });
    }
    events.stop();
    conversation.forget();
    throw notReady();
  }

  /** Polls its status until it has an outcome. */
  async #follow(one: SentPrompt): Promise<void> {
    const { runtime } = this.#context;
    let idleSince = Number.POSITIVE_INFINITY;
    let previous = "";
    while (!one.outcome) {
      await pause(one);
      if (runtime.state !== "ok" || one.outcome) {
        previous = "";
        continue;
      }
      const hasRestarted = one.pid !== runtime.pid;
      const status = await readStatus(this.#context, one).catch(() => null);
      if (status === null || hasRestarted !== (one.pid !== runtime.pid)) continue;
      // the process ended before it recorded the prompt: it never started
      if (hasRestarted && !status.isRecorded && !one.isRecorded) {
        await this.#serialize(() => this.#deliver(one)).catch(() => {});
        continue;
      }
      const answer = status.answer ?? (one.isRecorded && !status.isRecorded ? status.last : null);
      one.isRecorded ||= status.isRecorded;
      const current = JSON.stringify([runtime.pid, status.isBusy, answer]);
      if (current !== previous) idleSince = performance.now();
      previous = current;
      const idleMs = performance.now() - idleSince;
      const { isAborted, runtimeError } = one;
      const outcome = outcomeOf({ ...status, answer }, { hasRestarted, isAborted, runtimeError, idleMs });
      if (outcome) one.settle(outcome);
    }
  }
}

/** A prompt that was sent to the runtime. */
class SentPrompt {
  readonly id: string;
  readonly text: string;
  attachments: readonly Attachment[];
  /** The end of its message's id. */
  readonly end: string;
  readonly #settled = Promise.withResolvers<void>();
  readonly settled = this.#settled.promise;
  /** The runtime's process that it was sent to; null: one from before this daemon started. */
  pid: number | null = null;
  /** Whether it was found in the conversation. */
  isRecorded = false;
  isAborted = false;
  runtimeError: string | null = null;
  outcome: Outcome | null = null;
  wake = (): void => {};

  constructor({ id, text, attachments = [] }: NewPrompt) {
    this.id = id;
    this.text = text;
    this.attachments = attachments;
    this.end = messageEndOf(id);
  }

  settle(outcome: Outcome): void {
    this.outcome ??= outcome;
    this.attachments = [];
    this.#settled.resolve();
    this.wake();
  }
}

/** @throws SvcError unavailable */
async function inConversation<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof ConversationError ? notReady(error.message) : error;
  }
}

function subscribe({ settings, runtime }: PromptsContext, one: SentPrompt, conversationId: string) {
  return subscribeToRuntime(settings.runtimePort, runtime.authorization, {
    onIdle: (id) => {
      if (id === conversationId) one.wake();
    },
    onError: (id, name, message) => {
      if (id !== conversationId || name === "MessageAbortedError") return;
      // the first error is the cause; later ones contain stack traces
      one.runtimeError ??= message;
      one.wake();
    },
  });
}

function bodyOf({ agent, model, effort }: AgentChoice, { end, text, attachments }: SentPrompt): unknown {
  const messageID = newMessageId(Date.now(), end);
  const partId = messageID.replace(/^msg/, "prt");
  return {
    messageID,
    // without an id, a part appears twice if the prompt is sent twice
    parts: [
      { id: partId, type: "text", text },
      ...attachments.map((file, index) => ({ id: `${partId}${index}`, ...filePart(file) })),
    ],
    ...(agent !== null && { agent }),
    ...modelOf(model),
    ...(effort !== null && { variant: effort }),
  };
}

async function readStatus({ runtime, conversation }: PromptsContext, one: SentPrompt) {
  const id = await conversation.find();
  return id === null ? NOTHING : await readPromptStatus(runtime.call, id, messagePredicate(one));
}

const NOTHING: PromptStatus = { isRecorded: false, isBusy: false, answer: null, last: null };

function messagePredicate({ end }: SentPrompt): (messageId: string) => boolean {
  return (messageId) => messageId.endsWith(end);
}

async function pause(one: SentPrompt): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  one.wake = resolve;
  const timer = setTimeout(resolve, CHECK_MS);
  await promise;
  clearTimeout(timer);
}

function notReady(message = "The agent runtime is not ready."): SvcError {
  return new SvcError("unavailable", message, {}, { "Retry-After": "1" });
}
