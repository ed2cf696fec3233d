import { createHash } from "node:crypto";
import { modelOf } from "../../src/contract/conversation.ts";
import type { DaemonPrompt } from "../../src/contract/daemon.ts";
import { SvcError } from "../../src/contract/errors.ts";
import { field } from "../../src/contract/json.ts";
import { newMessageId } from "../../src/contract/message-id.ts";
import type { RunActivity } from "../activity.ts";
import { runningSessions } from "../runtime/abort.ts";
import type { RuntimeCall } from "../runtime/call.ts";
import { subscribeToRuntime } from "../runtime/events.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Settings } from "../settings.ts";
import { type Conversation, ConversationError } from "./conversation.ts";
import { type Outcome, outcomeOf, RESTARTED } from "./outcome.ts";
import { type PromptStatus, readPromptStatus } from "./prompt-status.ts";

export interface PromptsContext {
  settings: Pick<Settings, "agent" | "model" | "runtimePort">;
  runtime: Pick<Runtime, "state" | "pid" | "call" | "authorization">;
  conversation: Conversation;
  activity: Pick<RunActivity, "isHeld" | "notePrompt">;
}

/** A call that gives a prompt: a cold runtime reads its agents and plugins first. */
const CALL_MS = 30_000;
/** Between two looks; the runtime's events come before. */
const CHECK_MS = 1_000;
/** How long an answer is waited for at a time. */
const WAIT_MS = 15_000;
/** Prompts that are remembered; what became of older ones is asked of the runtime. */
const CACHED_MAX = 100;

/** Gives prompts to the runtime, one at a time, and tells what becomes of them. */
export class Prompts {
  readonly #context: PromptsContext;
  readonly #sent = new Map<string, SentPrompt>();
  #sending: Promise<unknown> = Promise.resolve();

  constructor(context: PromptsContext) {
    this.#context = context;
  }

  /**
   * Gives a prompt, unless it was given before.
   * @param wait until it is over, some seconds at most
   * @throws SvcError session_busy while another run is under way, unavailable while the runtime is not ready
   */
  async send(prompt: { id: string; text: string }, wait: boolean): Promise<DaemonPrompt> {
    const found = this.#sent.get(prompt.id) ?? (await this.#serialize(() => this.#start(prompt)));
    if (wait && !found.outcome) await Promise.race([found.over, Bun.sleep(WAIT_MS)]);
    const { state, error } = found.outcome ?? { state: "running", error: null };
    return { prompt_id: prompt.id, state, error };
  }

  /** Somebody aborts what runs. */
  noteAbort(): void {
    for (const one of this.#open()) one.isAborted = true;
  }

  /** The runtime is about to be ended: what runs is cut off. */
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

  async #start({ id, text }: { id: string; text: string }): Promise<SentPrompt> {
    const known = this.#sent.get(id);
    if (known) return known;
    if (this.#context.runtime.state !== "ok") throw notReady();
    const one = new SentPrompt(id, text);
    this.#remember(one);
    try {
      if (!(await this.#wasSent(one))) await this.#deliver(one);
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

  /** Whether it was given by an earlier daemon on the same home. */
  async #wasSent(one: SentPrompt): Promise<boolean> {
    const { runtime, conversation } = this.#context;
    const id = await inConversation(conversation.find);
    if (id === null) return false;
    const status = await readPromptStatus(runtime.call, id, messagePredicate(one));
    if (status === null) throw notReady();
    one.isRecorded = status.isRecorded;
    return status.isRecorded;
  }

  /** @throws SvcError when it cannot be given now; what is wrong with it for good is its outcome */
  async #deliver(one: SentPrompt): Promise<void> {
    const { settings, runtime, conversation, activity } = this.#context;
    const running = await runningSessions(runtime.call);
    if (running === null) throw notReady();
    const isOther = this.#open().some((other) => other !== one);
    if (running.length > 0 || isOther || activity.isHeld)
      throw new SvcError("session_busy", "Another run is under way.", {}, { "Retry-After": "1" });
    const { agent } = settings;
    if (agent !== null && !(await hasAgent(runtime.call, agent))) {
      const error = `The project has no agent "${agent}". Its agents are files in agents/ of its configuration folder.`;
      return one.settle({ state: "failed", error });
    }
    one.pid = runtime.pid;
    const id = await inConversation(conversation.open);
    const events = subscribe(this.#context, one, id);
    await events.ready;
    void one.over.then(events.stop);
    activity.notePrompt();
    const path = `/session/${id}/prompt_async`;
    const answer = await runtime.call("POST", path, CALL_MS, bodyOf(settings, one)).catch(() => null);
    if (answer?.status === 204 || answer?.status === 200) return;
    // what is not answered may have been taken
    if (answer === null && (await this.#wasSent(one))) return;
    if (answer?.status === 400) {
      const error = "The agent runtime did not take the prompt.";
      return one.settle({ state: "failed", error });
    }
    events.stop();
    conversation.forget();
    throw notReady();
  }

  /** Looks at it until it is over. */
  async #follow(one: SentPrompt): Promise<void> {
    const { runtime } = this.#context;
    let idleSince = Number.POSITIVE_INFINITY;
    let seen = "";
    while (!one.outcome) {
      await pause(one);
      if (runtime.state !== "ok" || one.outcome) {
        seen = "";
        continue;
      }
      const hasRestarted = one.pid !== runtime.pid;
      const status = await readStatus(this.#context, one).catch(() => null);
      if (status === null || hasRestarted !== (one.pid !== runtime.pid)) continue;
      // the process ended before it had written the prompt down: it was never begun
      if (hasRestarted && !status.isRecorded && !one.isRecorded) {
        await this.#serialize(() => this.#deliver(one)).catch(() => {});
        continue;
      }
      const answer = status.answer ?? (one.isRecorded && !status.isRecorded ? status.last : null);
      one.isRecorded ||= status.isRecorded;
      const now = JSON.stringify([runtime.pid, status.isBusy, answer]);
      if (now !== seen) idleSince = performance.now();
      seen = now;
      const idleMs = performance.now() - idleSince;
      const { isAborted, runtimeError } = one;
      const outcome = outcomeOf({ ...status, answer }, { hasRestarted, isAborted, runtimeError, idleMs });
      if (outcome) one.settle(outcome);
    }
  }
}

/** A prompt that the runtime was given. */
class SentPrompt {
  readonly id: string;
  readonly text: string;
  /** What its message's id ends with. */
  readonly end: string;
  readonly #over = Promise.withResolvers<void>();
  readonly over = this.#over.promise;
  /** The process that was given it; null: an earlier one than this daemon knows. */
  pid: number | null = null;
  /** It was seen in the conversation. */
  isRecorded = false;
  isAborted = false;
  runtimeError: string | null = null;
  outcome: Outcome | null = null;
  wake = (): void => {};

  constructor(id: string, text: string) {
    this.id = id;
    this.text = text;
    this.end = createHash("sha256").update(id).digest("hex").slice(0, END_DIGITS);
  }

  settle(outcome: Outcome): void {
    this.outcome ??= outcome;
    this.#over.resolve();
    this.wake();
  }
}

const END_DIGITS = 14;

/** @throws SvcError unavailable */
async function inConversation<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof ConversationError ? notReady(error.message) : error;
  }
}

async function hasAgent(call: RuntimeCall, agent: string): Promise<boolean> {
  const answer = await call("GET", "/agent", CALL_MS).catch(() => null);
  if (answer?.status !== 200 || !Array.isArray(answer.body)) throw notReady();
  return answer.body.some((entry) => field(entry, "name") === agent);
}

function subscribe({ settings, runtime }: PromptsContext, one: SentPrompt, conversationId: string) {
  return subscribeToRuntime(settings.runtimePort, runtime.authorization, {
    onIdle: (id) => {
      if (id === conversationId) one.wake();
    },
    onError: (id, name, message) => {
      if (id !== conversationId || name === "MessageAbortedError") return;
      // the first says what it is; what follows shows where in the program
      one.runtimeError ??= message;
      one.wake();
    },
  });
}

function bodyOf({ agent, model }: PromptsContext["settings"], { end, text }: SentPrompt): unknown {
  const messageID = newMessageId(Date.now(), end);
  return {
    messageID,
    // parts without an id of their own come twice when they are said twice
    parts: [{ id: messageID.replace(/^msg/, "prt"), type: "text", text }],
    ...(agent !== null && { agent }),
    ...modelOf(model),
  };
}

async function readStatus(
  { runtime, conversation }: PromptsContext,
  one: SentPrompt,
): Promise<PromptStatus | null> {
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
