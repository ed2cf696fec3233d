/** An upstream that lets an agent run one command in its shell, and says what the command has printed. */
export interface AgentUpstream extends Disposable {
  url: string;
  /** Tokens in the usage of its responses. */
  counted: { input: number; output: number };
  /** The paths of the requests for models, without their queries. */
  paths: string[];
  /** The `Authorization` or `x-api-key` of the requests. */
  credentials: Set<string>;
  /** The bodies of the requests for models. */
  bodies: unknown[];
}

const USAGE = { input: 1_000, output: 20 };

/** What the model does, by the number of results of tools in the request: it runs a command, calls a tool, or says a text. */
export type Script = (results: number, body: string) => { command: string } | Turn;

/** @param script a command to run once, or what the model does at each request; it may keep the agent waiting */
export function startAgentUpstream(
  script: string | ((...of: Parameters<Script>) => Promise<ReturnType<Script>>),
): AgentUpstream {
  const seen = {
    counted: { input: 0, output: 0 },
    paths: [] as string[],
    credentials: new Set<string>(),
    bodies: [] as unknown[],
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const { headers } = request;
      seen.credentials.add(headers.get("x-api-key") ?? headers.get("authorization") ?? "");
      seen.paths.push(pathname);
      // with a login, Codex tries a WebSocket first
      if (request.method !== "POST") return new Response(null, { status: 404 });
      const format = FORMATS.find(({ ends }) => pathname.endsWith(ends));
      if (!format) return Response.json({ input_tokens: 1 });
      const body = await bodyOf(request);
      seen.bodies.push(body);
      seen.counted.input += USAGE.input;
      seen.counted.output += USAGE.output;
      const text = JSON.stringify(body);
      const results = text.match(format.result)?.length ?? 0;
      const does = typeof script === "string" ? once(script)(results, text) : await script(results, text);
      const events = format.events(turnOf(text, does), `${results}`);
      return new Response(events.map(eventOf).join(""), { headers: { "Content-Type": "text/event-stream" } });
    },
  });
  return { ...seen, url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) };
}

/** With a login, Codex compresses it. */
async function bodyOf(request: Request): Promise<unknown> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  const isCompressed = request.headers.get("content-encoding") === "zstd";
  return JSON.parse(Buffer.from(isCompressed ? Bun.zstdDecompressSync(bytes) : bytes).toString());
}

/** What the model does: it calls a tool, or says something. */
type Turn = { tool: string; input: Record<string, unknown> } | { text: string };

interface WireFormat {
  ends: string;
  /** A result of a tool in the text of a request: global. */
  result: RegExp;
  /** @param id of a call of a tool: other calls of the conversation have others */
  events(turn: Turn, id: string): Record<string, unknown>[];
}

/** The shells of the agents, and how they are called. */
const SHELLS: Record<string, (command: string) => Record<string, unknown>> = {
  Bash: (command) => ({ command, description: "Runs it" }),
  bash: (command) => ({ command, description: "Runs it" }),
  run_shell_command: (command) => ({ command, is_background: false, description: "Runs it" }),
  exec_command: (cmd) => ({ cmd }),
  shell_command: (command) => ({ command }),
  shell: (command) => ({ command: ["sh", "-c", command] }),
};

const once =
  (command: string): Script =>
  (results, body) =>
    results === 0 ? { command } : { text: `The command printed: ${/ran-[0-9]+/.exec(body)?.[0]}` };

function turnOf(body: string, does: ReturnType<Script>): Turn {
  if (!("command" in does)) return does;
  const found = Object.entries(SHELLS).find(([name]) => body.includes(`"name":"${name}"`));
  // requests without tools are for titles
  return found ? { tool: found[0], input: found[1](does.command) } : { text: "A title" };
}

const FORMATS: readonly WireFormat[] = [
  {
    ends: "/messages",
    result: /"type":"tool_result"/g,
    events: (turn, id) => [
      {
        type: "message_start",
        message: {
          ...{ id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null },
          usage: { input_tokens: USAGE.input, output_tokens: 1 },
        },
      },
      ...("tool" in turn
        ? [
            {
              type: "content_block_start",
              index: 0,
              content_block: { type: "tool_use", id: `toolu_${id}`, name: turn.tool, input: {} },
            },
            {
              type: "content_block_delta",
              index: 0,
              delta: { type: "input_json_delta", partial_json: JSON.stringify(turn.input) },
            },
          ]
        : [
            { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
            { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: turn.text } },
          ]),
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "tool" in turn ? "tool_use" : "end_turn", stop_sequence: null },
        usage: { output_tokens: USAGE.output },
      },
      { type: "message_stop" },
    ],
  },
  {
    ends: "/responses",
    result: /"type":"function_call_output"/g,
    events(turn, id) {
      const item =
        "tool" in turn
          ? {
              ...{ type: "function_call", id: `fc_${id}`, call_id: `call_${id}` },
              ...{ name: turn.tool, arguments: JSON.stringify(turn.input) },
            }
          : {
              ...{ type: "message", id: "msg_1", role: "assistant" },
              content: [{ type: "output_text", text: turn.text, annotations: [] }],
            };
      const usage = {
        ...{ input_tokens: USAGE.input, output_tokens: USAGE.output },
        ...{
          total_tokens: USAGE.input + USAGE.output,
          input_tokens_details: null,
          output_tokens_details: null,
        },
      };
      return [
        { type: "response.created", response: { id: "resp_1" } },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { id: "resp_1", output: [item], usage } },
      ];
    },
  },
  {
    ends: "/chat/completions",
    result: /"role":"tool"/g,
    events(turn, id) {
      const delta =
        "tool" in turn
          ? {
              role: "assistant",
              tool_calls: [
                {
                  ...{ index: 0, id: `call_${id}`, type: "function" },
                  function: { name: turn.tool, arguments: JSON.stringify(turn.input) },
                },
              ],
            }
          : { role: "assistant", content: turn.text };
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
      const usage = { prompt_tokens: USAGE.input, completion_tokens: USAGE.output };
      return [
        { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
        {
          ...chunk,
          choices: [{ index: 0, delta: {}, finish_reason: "tool" in turn ? "tool_calls" : "stop" }],
        },
        { ...chunk, choices: [], usage },
      ];
    },
  },
];

function eventOf(data: Record<string, unknown>): string {
  const { type } = data;
  return `${typeof type === "string" ? `event: ${type}\n` : ""}data: ${JSON.stringify(data)}\n\n`;
}
