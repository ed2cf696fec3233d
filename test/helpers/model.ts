import http, { type IncomingMessage, type ServerResponse } from "node:http";
import { type Script, type Step, scriptOf, type ToolCall } from "./model-script.ts";
import { until } from "./until.ts";

/**
 * An OpenAI-compatible model that does what the newest user message tells it (see model-script.ts): `POST
 * …/chat/completions`, streamed or whole, and `GET …/models`. Requests without tools are the title's.
 */
export interface ScriptedModel extends AsyncDisposable {
  /** The value of SVC_LLM_BASE_URL; ends in `/v1`. */
  url: string;
  port: number;
  counts: { requests: number; aborts: number; open: number };
  /** The requests, oldest first, including those for titles. */
  requests: ModelRequest[];
  /** Continues a waiting response (`!wait`), once it waits. */
  go(): Promise<void>;
}

export interface ModelRequest {
  path: string;
  headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: a request's JSON is looked into by the assertions of the tests
  body: any;
}

/** @param hostname where it listens; a sandbox in Docker reaches it only by an address of its network */
export async function startModel({ hostname = "127.0.0.1", port: wanted = 0 } = {}): Promise<ScriptedModel> {
  const counts = { requests: 0, aborts: 0, open: 0 };
  const requests: ModelRequest[] = [];
  /** How often a step has failed on purpose, by the conversation that it belongs to. */
  const failures = new Map<string, number>();

  const waiting: (() => void)[] = [];

  const server = http.createServer(async (request, response) => {
    const path = request.url?.split("?")[0] ?? "/";
    counts.open++;
    response.on("close", () => {
      counts.open--;
      if (!response.writableFinished) counts.aborts++;
    });
    if (request.method === "GET" && path.endsWith("/models"))
      return sendJson(response, 200, { object: "list", data: [{ id: "scripted", object: "model" }] });
    const body = await readJson(request);
    counts.requests++;
    requests.push({ path, headers: request.headers, body });
    if (!path.endsWith("/chat/completions"))
      return sendJson(response, 404, { error: { message: "The scripted model has no such route." } });
    await answer(response, body);
  });

  async function answer(response: ServerResponse, body: ModelRequest["body"]): Promise<void> {
    const script: Script = Array.isArray(body.tools)
      ? scriptOf(body.messages ?? [])
      : { steps: [{ do: "say", text: "A title" }], key: "title" };
    const reply = replyTo(response, body);
    for (const [index, step] of script.steps.entries()) {
      if (await failed(response, reply, step, `${script.key} ${index}`)) return;
      if (step.do === "say") reply.text(step.text);
      if (step.do === "tokens") reply.tokens(step.count);
      if (step.do === "refuse") return reply.end("content_filter", step.text);
      if (step.do === "tool") return reply.call(step.call);
      if (step.do === "wait")
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          response.on("close", resolve);
        });
      if (step.do === "slow") {
        for (const word of step.words) {
          if (response.destroyed) return;
          reply.text(`${word} `);
          await Bun.sleep(step.ms);
        }
      }
    }
    reply.end("stop");
  }

  /** Whether the response has failed, as scripted. */
  async function failed(response: ServerResponse, reply: Reply, step: Step, key: string): Promise<boolean> {
    if (step.do === "hang") return true;
    if (step.do !== "fail" && step.do !== "drop") return false;
    const times = (failures.get(key) ?? 0) + 1;
    if (times > step.times) return false;
    failures.set(key, times);
    if (step.do === "fail") {
      // the runtime would wait for two seconds; one that fails for good keeps it waiting
      if (Number.isFinite(step.times)) response.setHeader("Retry-After-Ms", "200");
      sendJson(response, step.status, {
        error: { message: "It fails as it was told to.", type: "scripted" },
      });
    }
    if (step.do === "drop") {
      reply.text("An answer that is cut ");
      await Bun.sleep(50);
      response.socket?.destroy();
    }
    return true;
  }

  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(wanted, hostname, resolve);
  await promise;
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://${hostname}:${port}/v1`,
    port,
    counts,
    requests,
    async go() {
      await until("the model waits", () => waiting.length > 0);
      for (const goOn of waiting.splice(0)) goOn();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** One response, streamed or complete, as requested. */
interface Reply {
  text(text: string): void;
  /** Of the request, as it reports them. */
  tokens(count: number): void;
  call(call: ToolCall): void;
  end(reason: "stop" | "content_filter", text?: string): void;
}

function replyTo(response: ServerResponse, body: ModelRequest["body"]): Reply {
  const isStream = body.stream === true;
  const head = {
    id: `chatcmpl-${crypto.randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model: body.model,
  };
  let whole = "";
  let input = 100;
  const event = (value: unknown) => {
    if (response.destroyed) return;
    if (!response.headersSent) response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(`data: ${JSON.stringify(value)}\n\n`);
  };
  const delta = (fields: unknown, reason: string | null = null) =>
    event({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: fields, finish_reason: reason }],
    });

  return {
    text(text) {
      whole += text;
      if (isStream) delta({ role: "assistant", content: text });
    },
    tokens(count) {
      input = count;
    },
    call({ name, input }) {
      const id = `call_${crypto.randomUUID().replaceAll("-", "")}`;
      const call = { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
      if (isStream) delta({ role: "assistant", content: null, tool_calls: [{ index: 0, ...call }] });
      finish("tool_calls", { tool_calls: [call] });
    },
    end(reason, text) {
      if (text !== undefined) this.text(text);
      finish(reason, {});
    },
  };

  function finish(reason: string, fields: object): void {
    const usage = { prompt_tokens: input, completion_tokens: 10, total_tokens: input + 10 };
    if (isStream) {
      delta({}, reason);
      event({ ...head, object: "chat.completion.chunk", choices: [], usage });
      if (!response.destroyed) response.end("data: [DONE]\n\n");
      return;
    }
    const message = { role: "assistant", content: whole, ...fields };
    sendJson(response, 200, {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: reason }],
      usage,
    });
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

async function readJson(request: IncomingMessage): Promise<ModelRequest["body"]> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    return {};
  }
}
