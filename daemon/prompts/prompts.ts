import { createHash } from "node:crypto";
import { modelOf } from "../../src/contract/conversation.ts";
import type { DaemonPrompt } from "../../src/contract/daemon.ts";
import { SvcError } from "../../src/contract/errors.ts";
import { field } from "../../src/contract/json.ts";
import { newMessageId } from "../../src/contract/message-id.ts";
import type { RunActivity } from "../activity.ts";
import { runningSessions } from "../runtime/abort.ts";
import { hearRuntime } from "../runtime/events.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Settings } from "../settings.ts";
import { type Conversation, ConversationError } from "./conversation.ts";
import { type Outcome, outcomeOf, RESTARTED } from "./outcome.ts";
import { lookAtPrompt, type Sight } from "./sight.ts";

/** Gives prompts to the runtime, one at a time, and tells what becomes of them. */
export interface Prompts {
  /**
   * Gives a prompt, unless it was given before.
   * @param wait until it is over, some seconds at most
   * @throws SvcError session_busy while another run is under way, unavailable while the runtime is not ready
   */
  give(prompt: { id: string; text: string }, wait: boolean): Promise<DaemonPrompt>;
  /** Somebody aborts what runs. */
  noteAbort(): void;
  /** The runtime is about to be ended: what runs is cut off. */
  cutOff(outcome?: Outcome): void;
}

export interface PromptsContext {
  settings: Pick<Settings, "agent" | "model" | "runtimePort">;
  runtime: Pick<Runtime, "state" | "pid" | "call" | "authorization">;
  conversation: Conversation;
  activity: Pick<RunActivity, "isHeld" | "notePrompt">;
}

/** A prompt that the runtime was given. */
interface Given {
  id: string;
  text: string;
  /** What its message's id ends with. */
  end: string;
  /** The process that was given it; null: an earlier one than this daemon knows. */
  pid: number | null;
  /** It was seen in the conversation. */
  isSaid: boolean;
  isAborted: boolean;
  heard: string | null;
  outcome: Outcome | null;
  over: Promise<void>;
  wake(): void;
  settle(outcome: Outcome): void;
}

/** A call that gives a prompt: a cold runtime reads its agents and plugins first. */
const CALL_MS = 30_000;
/** Between two looks; the runtime's events come before. */
const LOOK_MS = 1_000;
/** How long an answer is waited for at a time. */
const WAIT_MS = 15_000;
/** Prompts that are remembered; what became of older ones is asked of the runtime. */
const REMEMBERED = 100;

export function createPrompts(context: PromptsContext): Prompts {
  const { settings, runtime, conversation, activity } = context;
  const { call } = runtime;
  const given = new Map<string, Given>();
  let giving: Promise<unknown> = Promise.resolve();

  return {
    async give(prompt, wait) {
      const found = given.get(prompt.id) ?? (await inTurn(() => begin(prompt)));
      if (wait && !found.outcome) await Promise.race([found.over, Bun.sleep(WAIT_MS)]);
      const { state, error } = found.outcome ?? { state: "running", error: null };
      return { prompt_id: prompt.id, state, error };
    },
    noteAbort() {
      for (const one of open()) one.isAborted = true;
    },
    cutOff(outcome = RESTARTED) {
      for (const one of open()) one.settle(outcome);
    },
  };

  function open(): Given[] {
    return [...given.values()].filter(({ outcome }) => outcome === null);
  }

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = giving.then(work);
    giving = turn.catch(() => {});
    return await turn;
  }

  async function begin({ id, text }: { id: string; text: string }): Promise<Given> {
    const known = given.get(id);
    if (known) return known;
    if (runtime.state !== "ok") throw notReady();
    const one = remember(id, text);
    try {
      if (!(await wasSaid(one))) await say(one);
    } catch (error) {
      given.delete(id);
      throw error;
    }
    void follow(one);
    return one;
  }

  function remember(id: string, text: string): Given {
    const over = Promise.withResolvers<void>();
    const end = createHash("sha256").update(id).digest("hex").slice(0, END_DIGITS);
    const one: Given = {
      id,
      text,
      end,
      pid: null,
      isSaid: false,
      isAborted: false,
      heard: null,
      outcome: null,
      over: over.promise,
      wake: () => {},
      settle(outcome) {
        one.outcome ??= outcome;
        over.resolve();
        one.wake();
      },
    };
    given.set(id, one);
    for (const [old, { outcome }] of given)
      if (given.size > REMEMBERED && outcome !== null) given.delete(old);
    return one;
  }

  /** Whether it was given by an earlier daemon on the same home. */
  async function wasSaid(one: Given): Promise<boolean> {
    const id = await inConversation(conversation.find);
    if (id === null) return false;
    const sight = await lookAtPrompt(call, id, isOf(one));
    if (sight === null) throw notReady();
    one.isSaid = sight.isSaid;
    return sight.isSaid;
  }

  /** @throws SvcError when it cannot be given now; what is wrong with it for good is its outcome */
  async function say(one: Given): Promise<void> {
    const running = await runningSessions(call);
    if (running === null) throw notReady();
    const isOther = open().some((other) => other !== one);
    if (running.length > 0 || isOther || activity.isHeld)
      throw new SvcError("session_busy", "Another run is under way.", {}, { "Retry-After": "1" });
    const { agent } = settings;
    if (agent !== null && !(await hasAgent(agent))) {
      const error = `The project has no agent "${agent}". Its agents are files in agents/ of its configuration folder.`;
      return one.settle({ state: "failed", error });
    }
    one.pid = runtime.pid;
    const id = await inConversation(conversation.open);
    const events = hear(one, id);
    await events.ready;
    void one.over.then(events.stop);
    activity.notePrompt();
    const answer = await call("POST", `/session/${id}/prompt_async`, CALL_MS, bodyOf(one)).catch(() => null);
    if (answer?.status === 204 || answer?.status === 200) return;
    // what is not answered may have been taken
    if (answer === null && (await wasSaid(one))) return;
    if (answer?.status === 400) {
      const error = "The agent runtime did not take the prompt.";
      return one.settle({ state: "failed", error });
    }
    events.stop();
    conversation.forget();
    throw notReady();
  }

  function bodyOf({ end, text }: Given): unknown {
    const { agent, model } = settings;
    const messageID = newMessageId(Date.now(), end);
    return {
      messageID,
      // parts without an id of their own come twice when they are said twice
      parts: [{ id: messageID.replace(/^msg/, "prt"), type: "text", text }],
      ...(agent !== null && { agent }),
      ...modelOf(model),
    };
  }

  async function hasAgent(agent: string): Promise<boolean> {
    const answer = await call("GET", "/agent", CALL_MS).catch(() => null);
    if (answer?.status !== 200 || !Array.isArray(answer.body)) throw notReady();
    return answer.body.some((entry) => field(entry, "name") === agent);
  }

  function hear(one: Given, conversationId: string) {
    return hearRuntime(settings.runtimePort, runtime.authorization, {
      onIdle: (id) => {
        if (id === conversationId) one.wake();
      },
      onError: (id, name, message) => {
        if (id !== conversationId || name === "MessageAbortedError") return;
        // the first says what it is; what follows shows where in the program
        one.heard ??= message;
        one.wake();
      },
    });
  }

  async function look(one: Given): Promise<Sight | null> {
    const id = await conversation.find();
    return id === null ? NOTHING : await lookAtPrompt(call, id, isOf(one));
  }

  /** Looks at it until it is over. */
  async function follow(one: Given): Promise<void> {
    let idleSince = Number.POSITIVE_INFINITY;
    let seen = "";
    while (!one.outcome) {
      await pause(one);
      if (runtime.state !== "ok" || one.outcome) {
        seen = "";
        continue;
      }
      const isOther = one.pid !== runtime.pid;
      const sight = await look(one).catch(() => null);
      if (sight === null || isOther !== (one.pid !== runtime.pid)) continue;
      // the process ended before it had written the prompt down: it was never begun
      if (isOther && !sight.isSaid && !one.isSaid) {
        await inTurn(() => say(one)).catch(() => {});
        continue;
      }
      const answer = sight.answer ?? (one.isSaid && !sight.isSaid ? sight.last : null);
      one.isSaid ||= sight.isSaid;
      const now = JSON.stringify([runtime.pid, sight.isBusy, answer]);
      if (now !== seen) idleSince = performance.now();
      seen = now;
      const idleMs = performance.now() - idleSince;
      const { isAborted, heard } = one;
      const outcome = outcomeOf({ ...sight, answer }, { isOther, isAborted, heard, idleMs });
      if (outcome) one.settle(outcome);
    }
  }
}

const END_DIGITS = 14;
const NOTHING: Sight = { isSaid: false, isBusy: false, answer: null, last: null };

/** @throws SvcError unavailable */
async function inConversation<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof ConversationError ? notReady(error.message) : error;
  }
}

function isOf({ end }: Given): (messageId: string) => boolean {
  return (messageId) => messageId.endsWith(end);
}

async function pause(one: Given): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  one.wake = resolve;
  const timer = setTimeout(resolve, LOOK_MS);
  await promise;
  clearTimeout(timer);
}

function notReady(message = "The agent runtime is not ready."): SvcError {
  return new SvcError("unavailable", message, {}, { "Retry-After": "1" });
}
