import http, { type IncomingMessage, type ServerResponse } from "node:http";
import { until } from "./until.ts";

/** What a test asks an upstream to do, as the text of a prompt. */
export interface Ask {
  input?: number;
  output?: number;
  cached?: number;
  /** Pieces of the answer; each is one event of a stream. */
  pieces?: number;
  /** Statuses of the next attempts; the one after them is answered. */
  fail?: number[];
  /** The body of a failure does not end. */
  endless?: boolean;
  /** Waits for `go` after this many pieces, or for ever. */
  holdAfter?: number;
  /** Closes the connection after this many pieces. */
  dropAfter?: number;
  /** Makes the prompt another one. */
  index?: number;
}

/** Tokens that the upstream has put into the usage of a response. */
interface Counted {
  input: number;
  output: number;
  cached: number;
}

/** A stand-in of a model service, in both formats. It counts what it reports, as a service does for its bill. */
export interface ScriptedUpstream extends AsyncDisposable {
  url: string;
  requests: { path: string; headers: IncomingMessage["headers"]; body: string }[];
  counted: Counted;
  open: number;
  aborted: number;
  /** Continues the responses that wait. */
  go(): void;
  /** Waits until this many responses wait. */
  waits(count?: number): Promise<void>;
}

/** @param key the credential that it requires, and repeats in its errors, as some services do */
export async function startUpstream(key: string): Promise<ScriptedUpstream> {
  const waiting: (() => void)[] = [];
  const failed = new Map<string, number>();
  const server = http.createServer(async (request, response) => {
    upstream.open++;
    response.on("close", () => {
      upstream.open--;
      if (!response.writableFinished) upstream.aborted++;
    });
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    const path = request.url ?? "/";
    upstream.requests.push({ path, headers: request.headers, body });
    const given = request.headers["x-api-key"] ?? request.headers.authorization?.replace(/^Bearer /, "");
    if (given !== key) return error(response, 401, `The key ${given} is wrong`);
    const [route = ""] = path.split("?");
    if (request.method === "GET") return json(response, { object: "list", data: [{ id: "listed" }] });
    const asked = JSON.parse(body);
    if (route.endsWith("/count_tokens")) return json(response, { input_tokens: 77 });
    const ask = askOf(asked);
    const times = failed.get(body) ?? 0;
    const status = ask.fail?.[times];
    failed.set(body, times + 1);
    if (status !== undefined && ask.endless) {
      response.writeHead(status, { "Content-Type": "application/json" });
      response.write('{"error":');
      return await wait(response);
    }
    if (status !== undefined) return error(response, status, `It fails with ${key}`);
    await answer(route, asked, ask, response);
  });

  async function answer(
    route: string,
    // biome-ignore lint/suspicious/noExplicitAny: the JSON of a request
    asked: any,
    ask: Ask,
    response: ServerResponse,
  ): Promise<void> {
    const usage = { input: ask.input ?? 10, output: ask.output ?? 5, cached: ask.cached ?? 0 };
    const script = SCRIPTS.find(({ ends }) => route.endsWith(ends));
    if (!script) return error(response, 404, "no such route");
    if (asked.stream !== true) {
      if (ask.holdAfter !== undefined) await wait(response);
      if (response.destroyed) return;
      count(script.ends === "/embeddings" ? { input: usage.input } : usage);
      return json(response, script.whole(asked.model, usage, ask.pieces ?? 1));
    }
    response.writeHead(200, { "Content-Type": "text/event-stream", "X-Upstream": "yes" });
    const send = (data: unknown, reported?: Partial<Counted>) => {
      if (response.destroyed) return;
      const named =
        typeof data === "object" && data !== null && "type" in data ? `event: ${data.type}\n` : "";
      response.write(`${named}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
      if (reported) count(reported);
    };
    script.begin(send, asked, usage);
    for (let piece = 0; piece < (ask.pieces ?? 3); piece++) {
      if (ask.holdAfter === piece) await wait(response);
      if (response.destroyed) return;
      if (ask.dropAfter === piece) return void response.socket?.destroy();
      script.piece(send, asked, piece);
    }
    script.end(send, asked, usage);
    if (!response.destroyed) response.end();
  }

  function count({ input = 0, output = 0, cached = 0 }: Partial<Counted>): void {
    upstream.counted.input += input;
    upstream.counted.output += output;
    upstream.counted.cached += cached;
  }

  async function wait(response: ServerResponse): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      response.on("close", () => {
        const index = waiting.indexOf(resolve);
        if (index >= 0) waiting.splice(index, 1);
        resolve();
      });
    });
  }

  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  const upstream: ScriptedUpstream = {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/v1`,
    requests: [],
    counted: { input: 0, output: 0, cached: 0 },
    open: 0,
    aborted: 0,
    go() {
      for (const goOn of waiting.splice(0)) goOn();
    },
    waits: (count = 1) => until("the upstream waits", () => waiting.length >= count),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return upstream;
}

/** The body of a request of each format, with what it asks for as its prompt. */
export function bodyOf(kind: string, model: string, ask: Ask, stream: boolean): Record<string, unknown> {
  const content = JSON.stringify(ask);
  if (kind === "responses") return { model, input: content, ...(stream && { stream }) };
  if (kind === "embeddings") return { model, input: content };
  const messages = [{ role: "user", content }];
  if (kind === "messages") return { model, max_tokens: 100, messages, ...(stream && { stream }) };
  return { model, messages, ...(stream && { stream }) };
}

type Send = (data: unknown, reported?: Partial<Counted>) => void;

interface Script {
  ends: string;
  whole(model: string, usage: Counted, pieces: number): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of a request
  begin(send: Send, asked: any, usage: Counted): void;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of a request
  piece(send: Send, asked: any, index: number): void;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of a request
  end(send: Send, asked: any, usage: Counted): void;
}

const chatUsage = ({ input, output, cached }: Counted) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
});
const responsesUsage = ({ input, output, cached }: Counted) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
});
/** Anthropic counts cached tokens besides the input. */
const messagesUsage = ({ input, cached }: Counted) => ({
  input_tokens: input - cached,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: 0,
});
const words = (pieces: number) =>
  Array.from({ length: pieces }, (_, index) => `word${index} "usage" é`).join(" ");

const SCRIPTS: Script[] = [
  {
    ends: "/chat/completions",
    whole: (model, usage, pieces) => ({
      object: "chat.completion",
      model,
      choices: [{ index: 0, message: { role: "assistant", content: words(pieces) } }],
      usage: chatUsage(usage),
    }),
    begin: (send, asked) => chunk(send, asked, { role: "assistant" }),
    piece: (send, asked, index) => chunk(send, asked, { content: words(index + 1) }),
    end(send, asked, usage) {
      chunk(send, asked, {}, "stop");
      if (asked.stream_options?.include_usage)
        send({ object: "chat.completion.chunk", choices: [], usage: chatUsage(usage) }, usage);
      send("[DONE]");
    },
  },
  {
    ends: "/responses",
    whole: (model, usage, pieces) => ({
      object: "response",
      model,
      output: words(pieces),
      usage: responsesUsage(usage),
    }),
    begin: (send) => send({ type: "response.created", response: { status: "in_progress", usage: null } }),
    piece: (send, _, index) => send({ type: "response.output_text.delta", delta: words(index + 1) }),
    end: (send, _, usage) =>
      send(
        { type: "response.completed", response: { status: "completed", usage: responsesUsage(usage) } },
        usage,
      ),
  },
  {
    ends: "/messages",
    whole: (model, usage, pieces) => ({
      type: "message",
      model,
      content: [{ type: "text", text: words(pieces) }],
      usage: { ...messagesUsage(usage), output_tokens: usage.output },
    }),
    begin: (send, asked, { input, cached, ...usage }) =>
      send(
        {
          type: "message_start",
          message: {
            model: asked.model,
            usage: { ...messagesUsage({ input, cached, ...usage }), output_tokens: 0 },
          },
        },
        { input, cached },
      ),
    piece: (send, _, index) =>
      send({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: words(index + 1) } }),
    end(send, _, { output }) {
      send(
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: output } },
        { output },
      );
      send({ type: "message_stop" });
    },
  },
  {
    ends: "/embeddings",
    whole: (model, { input }) => ({
      object: "list",
      model,
      data: [{ object: "embedding", index: 0, embedding: [0.25, -0.5] }],
      usage: { prompt_tokens: input, total_tokens: input },
    }),
    begin: () => {},
    piece: () => {},
    end: () => {},
  },
];

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request
function chunk(send: Send, asked: any, delta: unknown, reason: string | null = null): void {
  send({
    object: "chat.completion.chunk",
    model: asked.model,
    choices: [{ index: 0, delta, finish_reason: reason }],
    ...(asked.stream_options?.include_usage && { usage: null }),
  });
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request
function askOf(body: any): Ask {
  const text = typeof body.input === "string" ? body.input : body.messages?.at(-1)?.content;
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "Content-Type": "application/json", "OpenAI-Organization": "org-secret" });
  response.end(JSON.stringify(body));
}

function error(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "Content-Type": "application/json", "Retry-After": "7" });
  response.end(JSON.stringify({ error: { message, type: "scripted" } }));
}
