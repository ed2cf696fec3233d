import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import type { Deps } from "../../src/deps.ts";
import { Changes } from "../../src/lib/changes.ts";
import { type Api, startApi } from "./api.ts";
import { connectMcp, type McpClient } from "./mcp.ts";
import { Remote } from "./remote.ts";
import { untilStatus } from "./sessions.ts";
import { StandInProvider } from "./stand-in-provider.ts";
import { until } from "./until.ts";

/** A request that a service got. */
export interface Got {
  method: string;
  /** With the query. */
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** A service on loopback, which connectors name. */
export interface Service {
  url: string;
  got: Got[];
  answer: (got: Got, request: Request) => Response | Promise<Response>;
  stop(): Promise<void>;
}

export function startService(answer: Service["answer"]): Service {
  const got: Got[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = await request.clone().text();
      const one = {
        method: request.method,
        path: pathname + search,
        headers: Object.fromEntries(request.headers),
        body,
      };
      got.push(one);
      return await service.answer(one, request);
    },
  });
  const service: Service = {
    url: `http://127.0.0.1:${server.port}`,
    got,
    answer,
    stop: () => server.stop(true),
  };
  return service;
}

interface McpTools {
  tools: Tool[];
  call(name: string, args: Record<string, unknown>): CallToolResult | Promise<CallToolResult>;
  /** Whether responses are streams of events, as the SDK's servers send by default. */
  isStreamed?: boolean;
}

/** Answers requests with the SDK's own MCP server. */
export function mcpAnswer({ tools, call, isStreamed = true }: McpTools): Service["answer"] {
  return async (_, request) => {
    const server = new Server({ name: "service", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
      call(params.name, params.arguments ?? {}),
    );
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !isStreamed });
    await server.connect(transport);
    return await transport.handleRequest(request);
  };
}

export const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
  ...more,
});

export const text = (value: string): CallToolResult => ({ content: [{ type: "text", text: value }] });

/** A server whose connectors may name loopback, and a project with a session. */
export interface ConnectorBench {
  api: Api;
  provider: StandInProvider;
  remote: Remote;
  projectId: string;
  session: string;
  /** The client with the token of the session's sandbox, and the token. */
  agent: McpClient;
  token: string;
  /** Below the project's path. */
  call: Api["call"];
  /** Commits a manifest and other files to the default branch, and waits until it is in force. */
  have(manifest: string, files?: Record<string, string>): Promise<void>;
  setSecret(name: string, value: string, more?: Record<string, unknown>): Promise<void>;
  /** The newest entry of the list of calls. */
  lastCall(): Promise<Record<string, unknown>>;
  now(): Date;
  advance(seconds: number): void;
  stop(): Promise<void>;
}

export async function startConnectors(
  options: { env?: Record<string, string>; deps?: Partial<Deps> } = {},
): Promise<ConnectorBench> {
  const provider = new StandInProvider();
  const changes = new Changes();
  let ahead = 0;
  const now = () => new Date(Date.now() + ahead * 1000);
  const api = await startApi({
    env: { SVC_ALLOW_PRIVATE_ADDRESSES: "1", ...options.env },
    deps: { sandboxes: provider.sandboxesOf, changes, databaseTime: async () => now(), ...options.deps },
  });
  const remote = new Remote();
  remote.commit("main", { "svc.toml": "svc_version = 1\n" });
  const { project_id: projectId } = await api.project(remote.url);
  const call: Api["call"] = (method, path, more) =>
    api.call(method, `/v1/projects/${projectId}${path}`, more);
  const created = (await call("POST", "/sessions", { body: {} })).body.session_id;
  await untilStatus(async () => (await call("GET", `/sessions/${created}`)).body, ["running"]);
  const token = provider.sandboxes.get(created)?.environment["SVC_EXECUTOR_TOKEN"] ?? "";
  return {
    api,
    provider,
    remote,
    projectId,
    session: created,
    agent: await connectMcp(api.url, token),
    token,
    call,
    async have(manifest, files = {}) {
      const commit = remote.commit("main", { "svc.toml": `svc_version = 1\n${manifest}`, ...files });
      // like an edit of the project, without waiting for the next poll
      await api.call("PATCH", `/v1/projects/${projectId}`, { body: { name: "Example" } });
      await until(
        "the manifest is in force",
        async () => (await call("GET", "/triggers")).body.commit === commit,
      );
    },
    async setSecret(name, value, more = {}) {
      const set = await call("PUT", `/secrets/${name}`, { body: { value, ...more } });
      if (set.status !== 200) throw new Error(`no secret: ${set.status} ${set.text}`);
    },
    lastCall: async () => (await call("GET", "/connector-calls?limit=1")).body.calls[0],
    now,
    advance(seconds) {
      ahead += seconds;
      changes.notify("connector_ask");
    },
    async stop() {
      await api.stop();
      await provider.close();
      remote.remove();
    },
  };
}
