import { arrayOf, field, numberField, textField } from "../../src/contract/json.ts";
import { newMessageId } from "../../src/contract/message-id.ts";
import type { Conversation } from "./conversation.ts";
import {
  type MessageInfo,
  newPartId,
  type PartBase,
  type TextPart,
  type Todo,
  type Tokens,
  type ToolPart,
} from "./messages.ts";
import { applyToolUpdate, newToolState } from "./tool.ts";

/** Items of a plan. */
const TODOS_MAX = 200;
/** Uses of tools whose updates are accepted. */
const TOOLS_MAX = 1_000;

/** The id of the use of a tool that stands for the plan. */
const PLAN = "svc_plan";

/** How a prompt's answer ended. */
export type Ending = { finish: string; tokens: Tokens | null } | { error: { name: string; message: string } };

/** One answer of the agent, while it is being given: turns updates of the protocol into parts of a message. */
export class Answer {
  readonly #conversation: Conversation;
  readonly #workspace: string;
  readonly #tools = new Map<string, ToolPart>();
  #info: MessageInfo;
  #text: TextPart | null = null;
  #messageId = "";

  constructor(
    conversation: Conversation,
    options: {
      workspace: string;
      prompt: string;
      sessionId: string;
      model: { providerID: string; modelID: string } | null;
    },
  ) {
    this.#conversation = conversation;
    this.#workspace = options.workspace;
    this.#info = {
      id: newMessageId(Date.now()),
      sessionID: options.sessionId,
      role: "assistant",
      parentID: options.prompt,
      time: { created: Date.now() },
      ...options.model,
    };
    conversation.setMessage(this.#info);
  }

  /** @param update of a `session/update` notification (Agent Client Protocol 1, Prompt Turn); an unknown one is ignored */
  apply(update: unknown): void {
    switch (textField(update, "sessionUpdate")) {
      case "agent_message_chunk":
        this.#chunk("text", update);
        break;
      case "agent_thought_chunk":
        this.#chunk("reasoning", update);
        break;
      case "tool_call":
      case "tool_call_update":
        this.#tool(update);
        break;
      case "plan":
        this.#plan(todosOf(update));
    }
  }

  /** The part of a use of a tool; null if the agent did not report it. */
  toolPart(callId: string): ToolPart | null {
    return this.#tools.get(callId) ?? null;
  }

  get messageId(): string {
    return this.#info.id;
  }

  /** Shows questions as the runtime's own agents ask them: by the use of a tool. */
  ask(callID: string, questions: readonly object[]): void {
    this.#tool({ toolCallId: callID, name: "question", status: "in_progress", rawInput: { questions } });
  }

  /** @param answers null: the person did not answer */
  answered(callID: string, answers: string[][] | null): void {
    const part = this.#tools.get(callID);
    // the end of the answer has ended it, too
    if (!part || this.#info.time.completed !== undefined) return;
    const metadata = answers === null ? part.state.metadata : { ...part.state.metadata, answers };
    this.#tools.set(callID, { ...part, state: { ...part.state, metadata } });
    this.#tool(
      answers === null
        ? { toolCallId: callID, status: "failed", rawOutput: "The questions were not answered." }
        : { toolCallId: callID, status: "completed" },
    );
  }

  /** @param cost in US dollars; null if unknown */
  end(ending: Ending, cost: number | null): void {
    this.#closeText();
    for (const part of this.#tools.values()) this.#endTool(part);
    const completed = Date.now();
    this.#info = {
      ...this.#info,
      time: { ...this.#info.time, completed },
      ...(cost !== null && { cost }),
      ...("error" in ending
        ? { error: { name: ending.error.name, data: { message: ending.error.message } } }
        : { finish: ending.finish, ...(ending.tokens && { tokens: ending.tokens }) }),
    };
    this.#conversation.setMessage(this.#info);
  }

  #chunk(type: TextPart["type"], update: unknown): void {
    const text = textOf(field(update, "content"));
    if (text === "") return;
    const messageId = textField(update, "messageId");
    const base = this.#newPart(update);
    const isOfOther = this.#text?.subagentOf !== base.subagentOf;
    if (this.#text?.type !== type || messageId !== this.#messageId || isOfOther) {
      this.#closeText();
      this.#text = { ...base, type, text: "", time: { start: Date.now() } };
      this.#messageId = messageId;
      this.#conversation.setPart(this.#text);
    }
    this.#conversation.grow(this.#text, text);
  }

  #newPart(update: unknown): PartBase {
    // Claude Code's name of the use of a tool whose subagent did this
    const caller = textField(field(field(update, "_meta"), "claudeCode"), "parentToolUseId");
    const subagentOf = this.#tools.get(caller)?.id;
    return {
      ...{ id: newPartId(), sessionID: this.#info.sessionID, messageID: this.#info.id },
      ...(subagentOf !== undefined && { subagentOf }),
    };
  }

  #closeText(): void {
    if (!this.#text) return;
    this.#conversation.setPart({ ...this.#text, time: { ...this.#text.time, end: Date.now() } });
    this.#text = null;
  }

  #tool(update: unknown): void {
    const callID = textField(update, "toolCallId");
    const known = this.#tools.get(callID);
    if (callID === "" || (!known && this.#tools.size >= TOOLS_MAX)) return;
    this.#closeText();
    const part = known ?? {
      ...this.#newPart(update),
      ...{ type: "tool" as const, callID, tool: "other", state: newToolState() },
    };
    const changed = applyToolUpdate(part, update, this.#workspace);
    this.#tools.set(callID, changed);
    this.#conversation.setPart(changed);
  }

  /** The runtime's own agents write a plan with a tool, which svc's clients read. */
  #plan(todos: Todo[]): void {
    const update = { toolCallId: PLAN, name: "todowrite", status: "completed", rawInput: { todos } };
    this.#tool({ ...update, title: `${todos.length} steps` });
    this.#conversation.setTodos(todos);
  }

  /** A tool whose end the agent did not report ended with the answer. */
  #endTool(part: ToolPart): void {
    if (part.state.status !== "pending" && part.state.status !== "running") return;
    this.#conversation.setPart(
      applyToolUpdate(
        part,
        { status: "failed", rawOutput: part.state.output || "It did not end." },
        this.#workspace,
      ),
    );
  }
}

/** The text of a content block; a placeholder for what is not text. */
function textOf(content: unknown): string {
  const type = textField(content, "type");
  if (type === "text") return textField(content, "text");
  if (type === "resource_link") return textField(content, "uri");
  return type === "" ? "" : `[${type}]`;
}

function todosOf(update: unknown): Todo[] {
  return arrayOf(field(update, "entries"))
    .slice(0, TODOS_MAX)
    .map((entry) => ({
      content: textField(entry, "content"),
      status: textField(entry, "status"),
      priority: textField(entry, "priority"),
    }));
}

/** The tokens of a prompt's response, which not every agent counts. */
export function tokensOf(response: unknown): Tokens | null {
  const usage = field(response, "usage");
  const [input, output] = [numberField(usage, "inputTokens"), numberField(usage, "outputTokens")];
  if (input === null || output === null) return null;
  const count = (name: string) => numberField(usage, name) ?? 0;
  return {
    ...{ input, output, reasoning: count("thoughtTokens") },
    cache: { read: count("cachedReadTokens"), write: count("cachedWriteTokens") },
  };
}
