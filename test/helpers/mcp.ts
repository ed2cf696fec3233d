import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** A client of the MCP endpoint: the protocol's official one. */
export interface McpClient {
  client: Client;
  /** The names of the tools. */
  names(): Promise<string[]>;
  /** Calls a tool: its text, as JSON if it is, and whether it failed. */
  // biome-ignore lint/suspicious/noExplicitAny: a result's JSON is looked into by the assertions of the tests
  call(name: string, args?: Record<string, unknown>): Promise<{ isError: boolean; text: string; value: any }>;
}

/** @param url of the server, without `/v1` */
export async function connectMcp(url: string, token: string): Promise<McpClient> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/v1/executor/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  // the types of the SDK do not allow undefined where its classes have it (exactOptionalPropertyTypes)
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, args = {}) {
      const { isError, content } = await client.callTool({ name, arguments: args });
      const [first] = Array.isArray(content) ? content : [];
      const text = String(first?.text);
      return { isError: isError === true, text, value: parse(text) };
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
