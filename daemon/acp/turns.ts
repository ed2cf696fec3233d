import { randomBytes } from "node:crypto";
import { arrayOf, field, numberField, textField } from "../../src/contract/json.ts";
import { AcpAgent } from "./agent.ts";
import { AgentError } from "./agent-process.ts";
import { Answer, type Ending, tokensOf } from "./answer.ts";
import { contentOf } from "./content.ts";
import type { Conversation } from "./conversation.ts";
import type { Message, Part, PromptPart } from "./messages.ts";
import type { Offer } from "./offer.ts";
import { Questions } from "./questions.ts";
import { recapOf } from "./recap.ts";
import type { AcpChoice, AcpSettings } from "./settings.ts";

/** A permission request that the agent waits on, in the format of the runtime's `GET /permission`. */
interface PermissionRequest {
  id: string;
  sessionID: string;
  permission: string;
  patterns: string[];
  metadata: Record<string, unknown>;
  always: string[];
  /** The use of a tool that it is about. */
  tool?: { messageID: string; callID: string };
}

interface OpenRequest {
  request: PermissionRequest;
  /** Kinds of the protocol → ids of options. */
  options: Map<string, string>;
  answer(optionId: string | null): void;
}

export type Reply = "once" | "always" | "reject";

/** The kinds of options that a reply chooses: the first one that the agent offers. */
const CHOICES: Record<Reply, readonly string[]> = {
  once: ["allow_once", "allow_always"],
  always: ["allow_always", "allow_once"],
  reject: ["reject_once", "reject_always"],
};

/** Prompts that wait. */
const QUEUE_MAX = 20;
const REQUESTS_MAX = 20;
/** For an agent to end a run; then it is killed. */
const CANCEL_MS = 10_000;

const FINISH: Readonly<Record<string, string>> = {
  end_turn: "stop",
  max_tokens: "length",
  max_turn_requests: "length",
};

/** Gives prompts to the agent, one at a time, and turns its answers into messages of the conversation. */
export class Turns {
  readonly #conversation: Conversation;
  readonly #settings: AcpSettings;
  readonly #agent: AcpAgent;
  readonly #requests = new Map<string, OpenRequest>();
  readonly #questions: Questions;
  /** Ids of prompts, in order; the first one is being answered. */
  #queue: string[] = [];
  #answer: Answer | null = null;
  #isAborted = false;
  /** What the conversation has cost by the agent's last word, in US dollars. */
  #cost: number | null = null;

  constructor(conversation: Conversation, settings: AcpSettings, log: (line: string) => void) {
    this.#conversation = conversation;
    this.#settings = settings;
    this.#questions = new Questions(conversation);
    this.#agent = new AcpAgent(settings, {
      onUpdate: (update) => this.#update(update),
      onPermission: (request, signal) => this.#ask(request, signal),
      onForm: (form, signal) => this.#questions.ask(form, this.#isAborted ? null : this.#answer, signal),
      onStderr: log,
    });
  }

  get isBusy(): boolean {
    return this.#queue.length > 0;
  }

  get isFull(): boolean {
    return this.#queue.length >= QUEUE_MAX;
  }

  get requests(): PermissionRequest[] {
    return [...this.#requests.values()].map(({ request }) => request);
  }

  get questions(): Questions {
    return this.#questions;
  }

  /** What the agent offers to choose from, once it has opened the conversation. */
  async offer(): Promise<Offer> {
    await this.#agent.open(this.#conversation.agentSession).catch(() => {});
    return this.#agent.offer;
  }

  /** Changes what the agent works with from the next prompt on. @returns false if it has to be started with it */
  async choose(choice: AcpChoice): Promise<boolean> {
    return !this.isBusy && (await this.#agent.choose(choice));
  }

  /** Starts the agent before its first prompt. A failure is reported by that prompt. */
  warmUp(): void {
    void this.#agent.open(this.#conversation.agentSession).catch(() => {});
  }

  /**
   * Accepts a prompt, unless it was accepted before.
   * @param parts of the message, without their ids
   * @param isNote whether the agent only reads it, with the next prompt
   */
  accept(id: string, parts: readonly PromptPart[], isNote: boolean): void {
    const session = this.#conversation.open("");
    if (this.#conversation.find(id)) return;
    const time = { created: Date.now() };
    this.#conversation.setMessage({ id, sessionID: session.id, role: "user", time });
    for (const [index, part] of parts.entries()) {
      const base = { id: partIdOf(id, index), sessionID: session.id, messageID: id };
      const whole: Part =
        part.type === "file"
          ? { ...base, ...part }
          : { ...base, ...part, time: { start: time.created, end: time.created } };
      this.#conversation.setPart(whole);
    }
    if (isNote) return;
    this.#queue.push(id);
    if (this.#queue.length > 1) return;
    this.#report("busy");
    void this.#run();
  }

  /** Ends the run, and drops the prompts that wait. @returns whether there was one */
  abort(): boolean {
    if (!this.isBusy) return false;
    this.#queue.length = 1;
    this.#isAborted = true;
    for (const { answer } of this.#requests.values()) answer(null);
    this.#questions.cancel();
    const { agentSession } = this.#conversation;
    const answer = this.#answer;
    if (agentSession !== null && answer) this.#agent.cancel(agentSession);
    setTimeout(() => {
      if (this.#answer === answer && this.#isAborted) this.#agent.kill();
    }, CANCEL_MS).unref();
    return true;
  }

  /** @returns false if no such request is open */
  reply(requestId: string, reply: Reply): boolean {
    const open = this.#requests.get(requestId);
    if (!open) return false;
    const kind = CHOICES[reply].find((each) => open.options.has(each));
    open.answer((kind && open.options.get(kind)) ?? null);
    this.#conversation.emit("permission.replied", {
      sessionID: open.request.sessionID,
      requestID: requestId,
      reply,
    });
    return true;
  }

  stop(): void {
    this.#agent.kill();
  }

  async #run(): Promise<void> {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const prompt = this.#conversation.find(next);
      if (prompt) await this.#turn(prompt);
      this.#queue.shift();
    }
    this.#report("idle");
    this.#conversation.emit("session.idle", { sessionID: this.#conversation.session?.id });
  }

  async #turn(prompt: Message): Promise<void> {
    const { workspace } = this.#settings;
    const { model } = this.#agent.choice;
    const { id, sessionID } = prompt.info;
    this.#isAborted = false;
    const before = this.#cost;
    const answer = new Answer(this.#conversation, { workspace, prompt: id, sessionId: sessionID, model });
    this.#answer = answer;
    const ending = await this.#send(prompt).catch((error: unknown): Ending => {
      if (this.#isAborted) return ABORTED;
      const message = error instanceof AgentError ? error.message : UNEXPECTED;
      return { error: { name: "AgentError", message } };
    });
    for (const { answer: settle } of this.#requests.values()) settle(null);
    this.#questions.cancel();
    this.#answer = null;
    answer.end(ending, this.#cost === null ? null : Math.max(0, this.#cost - (before ?? 0)));
    if ("error" in ending && ending !== ABORTED)
      this.#conversation.emit("session.error", {
        sessionID,
        error: { name: ending.error.name, data: { message: ending.error.message } },
      });
  }

  async #send(prompt: Message): Promise<Ending> {
    const { rules } = this.#settings;
    const { id, isResumed } = await this.#agent.open(this.#conversation.agentSession);
    const isNew = !isResumed && this.#conversation.agentSession !== id;
    this.#conversation.setAgentSession(id);
    if (this.#isAborted) return ABORTED;
    const earlier = this.#before(prompt);
    const response = await this.#agent.prompt(id, [
      ...(isNew && rules.in === "first-prompt" ? [{ type: "text", text: rules.text }] : []),
      ...(isNew && earlier.some(({ info }) => info.role === "assistant")
        ? [{ type: "text", text: recapOf(earlier) }]
        : []),
      ...notesOf(earlier).map((text) => ({ type: "text", text })),
      ...prompt.parts.flatMap(contentOf),
    ]);
    const reason = textField(response, "stopReason");
    if (this.#isAborted || reason === "cancelled") return ABORTED;
    if (reason === "refusal") return { error: { name: "Refusal", message: "The model refused to answer." } };
    return { finish: FINISH[reason] ?? "stop", tokens: tokensOf(response) };
  }

  #before(prompt: Message): readonly Message[] {
    return this.#conversation.messages.slice(0, this.#conversation.messages.indexOf(prompt));
  }

  #update(update: unknown): void {
    const kind = textField(update, "sessionUpdate");
    if (kind === "usage_update") this.#readCost(field(update, "cost"));
    else if (kind === "session_info_update")
      this.#conversation.setTitle(textField(update, "title").slice(0, 200));
    else this.#answer?.apply(update);
  }

  #readCost(cost: unknown): void {
    const amount = numberField(cost, "amount");
    if (amount !== null && textField(cost, "currency") === "USD") this.#cost = amount;
  }

  async #ask(value: unknown, signal: AbortSignal): Promise<string | null> {
    const sessionID = this.#conversation.session?.id;
    if (!this.#answer || sessionID === undefined || this.#isAborted || this.#requests.size >= REQUESTS_MAX)
      return null;
    const call = field(value, "toolCall");
    this.#answer.apply({ ...(typeof call === "object" ? call : {}), sessionUpdate: "tool_call_update" });
    const choices = arrayOf(field(value, "options")).map(
      (option) => [textField(option, "kind"), textField(option, "optionId")] as const,
    );
    const options = new Map(choices.toReversed());
    const part = this.#answer.toolPart(textField(call, "toolCallId"));
    if (this.#agent.choice.allowsEdits && part?.tool === "edit") return options.get("allow_once") ?? null;
    const request: PermissionRequest = {
      id: `per_${randomBytes(12).toString("hex")}`,
      sessionID,
      permission: part?.tool ?? "tool",
      patterns: [part?.state.title ?? textField(call, "title")].filter((each) => each !== ""),
      metadata: {},
      always: [],
      ...(part && { tool: { messageID: part.messageID, callID: part.callID } }),
    };
    const { promise, resolve } = Promise.withResolvers<string | null>();
    this.#requests.set(request.id, { request, options, answer: resolve });
    signal.addEventListener("abort", () => resolve(null), { once: true });
    this.#conversation.emit("permission.asked", { ...request });
    return await promise.finally(() => this.#requests.delete(request.id));
  }

  #report(type: "busy" | "idle"): void {
    this.#conversation.emit("session.status", {
      sessionID: this.#conversation.session?.id,
      status: { type },
    });
  }
}

const UNEXPECTED = "svc's adapter for the agent failed. Send the prompt again.";

/** The runtime's name for it. */
const ABORTED: Ending = { error: { name: "MessageAbortedError", message: "The run was aborted." } };

/** Stable, so that a prompt that is sent twice has its parts once. */
function partIdOf(messageId: string, index: number): string {
  return `${messageId.replace(/^msg/, "prt")}${index === 0 ? "" : `_${index}`}`;
}

/** Notes to the agent since its last answer. */
function notesOf(earlier: readonly Message[]): string[] {
  const last = earlier.findLastIndex(({ info }) => info.role === "assistant");
  return earlier
    .slice(last + 1)
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : [])));
}
