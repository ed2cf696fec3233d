import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { SvcError } from "../../contract/errors.ts";
import { VERSION } from "../../contract/version.ts";
import { OutboundError } from "../../lib/outbound.ts";
import type { Connection } from "./connection.ts";
import { connectorUrl, failed, notReached, statusFailure } from "./failure.ts";
import { CALL_MS, PAGES_MAX, TOOLS_MAX } from "./limits.ts";

/** The tools of a server of the Model Context Protocol. @throws connector_failed, url_not_allowed */
export async function listMcpTools(connection: Connection): Promise<Tool[]> {
  const { ListToolsResultSchema } = await import("@modelcontextprotocol/sdk/types.js");
  return await withClient(connection, async (client) => {
    const tools: Tool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MAX && tools.length <= TOOLS_MAX; page++) {
      const request = { method: "tools/list", params: cursor === undefined ? {} : { cursor } } as const;
      // not `listTools`, which compiles the server's schemas to code
      const found = await client.request(request, ListToolsResultSchema, optionsOf(connection));
      tools.push(...found.tools);
      cursor = found.nextCursor;
      if (cursor === undefined) break;
    }
    return tools;
  });
}

/** Calls a tool. @throws connector_failed, url_not_allowed */
export async function callMcpTool(
  connection: Connection,
  name: string,
  args: Record<string, unknown>,
): Promise<CallToolResult> {
  const { CallToolResultSchema } = await import("@modelcontextprotocol/sdk/types.js");
  return await withClient(connection, async (client) => {
    const request = { method: "tools/call", params: { name, arguments: args } } as const;
    return await client.request(request, CallToolResultSchema, optionsOf(connection));
  });
}

const optionsOf = ({ signal }: Connection) => ({ signal, timeout: CALL_MS });

/** Connects for one purpose: nothing is kept, so that any server of the database can make the next call. */
async function withClient<T>(connection: Connection, use: (client: Client) => Promise<T>): Promise<T> {
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  ]);
  const { slug, url: address } = connection.row;
  const url = connectorUrl(connection.row, address ?? "");
  /** What the transport hides behind errors of its own. */
  let failure: unknown = null;
  const transport = new StreamableHTTPClientTransport(url, {
    async fetch(_, init = {}) {
      // the stream of messages without a request, which nothing here needs
      if (init.method === "GET") return new Response(null, { status: 405 });
      try {
        const { method, headers, body } = init;
        const sent = {
          method,
          headers: new Headers(headers),
          body: typeof body === "string" ? body : null,
          // the end of a session is sent while the client closes
          signal: method === "DELETE" ? null : init.signal,
        };
        const response = await connection.send(url, sent, url.origin);
        if (response.status >= 300) failure ??= statusFailure(slug, response.status);
        return response;
      } catch (error) {
        failure ??= error;
        throw error;
      }
    },
    reconnectionOptions: NO_RECONNECTION,
  });
  const client = new Client({ name: "svc", version: VERSION });
  try {
    // the types of the SDK do not allow undefined where its classes have it (exactOptionalPropertyTypes)
    await client.connect(transport as Parameters<Client["connect"]>[0], optionsOf(connection));
    return await use(client);
  } catch (error) {
    throw await explain(connection, failure ?? error);
  } finally {
    // for a server that keeps sessions; the agent does not wait for it
    transport.terminateSession().catch(() => {});
    await client.close().catch(() => {});
  }
}

const NO_RECONNECTION = {
  maxRetries: 0,
  initialReconnectionDelay: 1,
  maxReconnectionDelay: 1,
  reconnectionDelayGrowFactor: 1,
};
/** Characters of an error of the protocol in a message. */
const MESSAGE_MAX = 500;

async function explain(connection: Connection, error: unknown): Promise<SvcError> {
  const { McpError, ErrorCode } = await import("@modelcontextprotocol/sdk/types.js");
  const { slug } = connection.row;
  if (error instanceof SvcError) return error;
  if (error instanceof OutboundError) return notReached(slug, error);
  if (error instanceof McpError && error.code === ErrorCode.RequestTimeout)
    return failed(slug, "it did not answer in time");
  if (error instanceof McpError)
    return failed(
      slug,
      `it answered ${connection.redact(error.message).slice(0, MESSAGE_MAX).toWellFormed()}`,
    );
  return failed(slug, "its answer is not one of the Model Context Protocol");
}
