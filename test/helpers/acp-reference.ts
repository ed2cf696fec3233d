/**
 * A small agent of the Agent Client Protocol, made with the protocol's own library: it does what its prompts say, a
 * directive a line. Its conversations are files in its home, so that another process can load them.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  type AgentContext,
  agent,
  type CreateElicitationResponse,
  methods,
  ndJsonStream,
  type RequestPermissionResponse,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";

const folder = join(process.env["HOME"] ?? "/", ".acp-reference");
const conversations = join(folder, "conversations");
mkdirSync(conversations, { recursive: true });
/** What it offers besides the basics, and what it does at its start: words in a file of its home. */
const manners = existsSync(join(folder, "manners"))
  ? readFileSync(join(folder, "manners"), "utf8").split(" ")
  : [];
if (manners.includes("broken")) {
  process.stderr.write("it cannot read its settings\n");
  process.exit(3);
}

interface Conversation {
  prompts: string[];
  rules: string;
  mode: string;
  model: string;
  effort: string;
  tools: string[];
}

const fileOf = (id: string) => join(conversations, `${id}.json`);
const read = (id: string): Conversation => JSON.parse(readFileSync(fileOf(id), "utf8"));
const cancelled = new Set<string>();
let calls = 0;

const app = agent({ name: "reference" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: manners.includes("future") ? 99 : 1,
    agentCapabilities: {
      loadSession: !manners.includes("forgetful"),
      mcpCapabilities: { http: true },
      promptCapabilities: { image: true },
      ...(manners.includes("resumes") && { sessionCapabilities: { resume: {} } }),
    },
  }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    const id = crypto.randomUUID();
    const rules = JSON.stringify(params._meta ?? {});
    const choice = { mode: "asks", model: process.env["ANTHROPIC_MODEL"] ?? "small", effort: "default" };
    save(id, { prompts: [], rules, ...choice, tools: params.mcpServers.map(({ name }) => name) });
    return { sessionId: id, modes: modesOf("asks"), ...optionsOf(id) };
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    if (!existsSync(fileOf(params.sessionId))) throw new Error("no such conversation");
    // the history is replayed, as the protocol demands
    await say(client, params.sessionId, "replayed");
    return { modes: modesOf(read(params.sessionId).mode), ...optionsOf(params.sessionId) };
  })
  .onRequest(methods.agent.session.resume, ({ params }) => {
    if (!existsSync(fileOf(params.sessionId))) throw new Error("no such conversation");
    return {};
  })
  .onRequest(methods.agent.session.setMode, ({ params }) => {
    save(params.sessionId, { ...read(params.sessionId), mode: params.modeId });
    return {};
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
    const { sessionId, configId, value } = params;
    if (manners.includes("stubborn") && configId === "effort") throw new Error("it does not change");
    save(sessionId, { ...read(sessionId), [configId]: value });
    return { configOptions: optionsOf(sessionId).configOptions ?? [] };
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => {
    cancelled.add(params.sessionId);
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const { sessionId } = params;
    cancelled.delete(sessionId);
    const texts = params.prompt.flatMap((block) => (block.type === "text" ? block.text : []));
    const images = params.prompt.filter(({ type }) => type === "image").length;
    const before = read(sessionId);
    save(sessionId, { ...before, prompts: [...before.prompts, ...texts] });
    let stopReason: StopReason = "end_turn";
    for (const line of (texts.at(-1) ?? "").split("\n")) {
      stopReason = await follow(client, sessionId, line, images);
      if (stopReason !== "end_turn") break;
    }
    return {
      stopReason,
      usage: { inputTokens: 100, outputTokens: 7, totalTokens: 107, cachedReadTokens: 40 },
    };
  });
app.connect(
  ndJsonStream(
    Writable.toWeb(process.stdout),
    // the types of the web's streams differ between Node and Bun
    Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>,
  ),
);

function modesOf(currentModeId: string) {
  const availableModes = [
    { id: "asks", name: "Asks" },
    ...(manners.includes("trusting") ? [{ id: "bypassPermissions", name: "Does not ask" }] : []),
    ...(manners.includes("careful") ? [{ id: "default", name: "Asks before all" }] : []),
  ];
  return { currentModeId, availableModes };
}

/** What an agent with config options offers; the large model has no efforts. */
function optionsOf(id: string) {
  if (!manners.includes("choosy")) return {};
  const { model, mode, effort } = read(id);
  const option = (name: string, category: string, current: string, values: readonly string[]) => ({
    ...{ type: "select" as const, id: name, name, category, currentValue: current },
    options: values.map((value) => ({ value, name: value })),
  });
  const models = [...new Set(["small", "large", model])];
  return {
    configOptions: [
      option("mode", "mode", mode, ["asks", "default", "acceptEdits", "bypassPermissions"]),
      option("model", "model", model, models),
      ...(model === "large" ? [] : [option("effort", "thought_level", effort, ["default", "low", "high"])]),
    ],
  };
}

function save(id: string, conversation: Conversation): void {
  writeFileSync(fileOf(id), JSON.stringify(conversation));
}

async function follow(client: AgentContext, id: string, line: string, images: number): Promise<StopReason> {
  const [, verb = "echo", rest = line] = /^!(\w+) ?(.*)$/.exec(line) ?? [];
  const { prompts, rules, mode, model, effort, tools } = read(id);
  switch (verb) {
    case "echo":
    case "say":
      for (const word of rest.split(/(?<= )/)) await say(client, id, word);
      return "end_turn";
    case "think":
      await update(client, id, {
        sessionUpdate: "agent_thought_chunk",
        content: { type: "text", text: rest },
      });
      return "end_turn";
    case "told":
      await say(
        client,
        id,
        JSON.stringify({
          ...{ prompts: prompts.slice(0, -1), rules, mode, model, effort, tools, images },
          process: process.pid,
        }),
      );
      return "end_turn";
    case "plan":
      await update(client, id, {
        sessionUpdate: "plan",
        entries: rest.split("|").map((content) => ({ content, priority: "medium", status: "pending" })),
      });
      return "end_turn";
    case "run":
      return await run(client, id, rest);
    case "write":
      return await write(client, id, rest);
    case "cost":
      await update(client, id, {
        sessionUpdate: "usage_update",
        ...{ used: 1, size: 2, cost: { amount: Number(rest), currency: "USD" } },
      });
      return "end_turn";
    case "form":
      await say(client, id, JSON.stringify(await ask(client, id, JSON.parse(rest))));
      return cancelled.has(id) ? "cancelled" : "end_turn";
    case "refuse":
      return "refusal";
    case "fail":
      throw new Error(rest);
    case "crash":
      process.stderr.write(`${rest}\n`);
      process.exit(9);
      break;
    case "leave":
      await update(client, id, {
        sessionUpdate: "tool_call",
        ...{ toolCallId: `call_${++calls}`, title: rest, kind: "execute", status: "in_progress" },
      });
      return "end_turn";
    case "link": {
      const content = { type: "resource_link" as const, name: rest, uri: `file:///${rest}` };
      await update(client, id, { sessionUpdate: "agent_message_chunk", content });
      await update(client, id, {
        sessionUpdate: "agent_message_chunk",
        content: { type: "image", mimeType: "image/png", data: "" },
      });
      return "end_turn";
    }
    case "pause":
      writeFileSync(join(folder, "paused"), rest);
      while (existsSync(join(folder, "paused"))) await Bun.sleep(2);
      return "end_turn";
    case "hang":
      while (!cancelled.has(id)) await Bun.sleep(5);
      return "cancelled";
    case "ignore":
      return await new Promise(() => {});
  }
  return "end_turn";
}

async function run(client: AgentContext, id: string, command: string): Promise<StopReason> {
  const toolCallId = `call_${++calls}`;
  const call = { toolCallId, title: command, kind: "execute" as const, rawInput: { command } };
  await update(client, id, { sessionUpdate: "tool_call", ...call, status: "pending" });
  if (["asks", "default"].includes(read(id).mode) && !(await isAllowed(client, id, call))) {
    await update(client, id, {
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "failed",
      rawOutput: "not allowed",
    });
    return cancelled.has(id) ? "cancelled" : "end_turn";
  }
  await update(client, id, { sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" });
  const { stdout, exitCode } = Bun.spawnSync(["sh", "-c", command]);
  const content = [{ type: "content" as const, content: { type: "text" as const, text: stdout.toString() } }];
  const status = exitCode === 0 ? ("completed" as const) : ("failed" as const);
  await update(client, id, { sessionUpdate: "tool_call_update", toolCallId, status, content });
  return "end_turn";
}

async function isAllowed(
  client: AgentContext,
  sessionId: string,
  toolCall: { toolCallId: string; title: string },
): Promise<boolean> {
  const { outcome } = await client.request<RequestPermissionResponse>(
    methods.client.session.requestPermission,
    {
      sessionId,
      toolCall,
      options: [
        { optionId: "yes", name: "Allow", kind: "allow_once" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    },
  );
  return outcome.outcome === "selected" && outcome.optionId === "yes";
}

async function ask(
  client: AgentContext,
  sessionId: string,
  requestedSchema: Record<string, unknown>,
): Promise<CreateElicitationResponse> {
  return await client.request<CreateElicitationResponse>(methods.client.elicitation.create, {
    ...{ mode: "form", sessionId, message: "Which one?", requestedSchema },
  });
}

async function write(client: AgentContext, id: string, words: string): Promise<StopReason> {
  const [, name = "", text = ""] = /^(\S+) (.*)$/.exec(words) ?? [];
  const path = join(process.cwd(), name);
  const before = existsSync(path) ? readFileSync(path, "utf8") : null;
  writeFileSync(path, `${text}\n`);
  await update(client, id, {
    sessionUpdate: "tool_call",
    ...{ toolCallId: `call_${++calls}`, title: `Write ${name}`, kind: "edit", status: "completed" },
    content: [{ type: "diff", path, oldText: before, newText: `${text}\n` }],
  });
  return "end_turn";
}

async function say(client: AgentContext, id: string, text: string): Promise<void> {
  await update(client, id, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
}

async function update(client: AgentContext, sessionId: string, change: SessionUpdate): Promise<void> {
  await client.notify(methods.client.session.update, { sessionId, update: change });
}
