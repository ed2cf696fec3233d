import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Deps } from "../../deps.ts";
import { callConnectorTool, listConnectorTools } from "../../features/connectors/call.ts";
import { resolveProject } from "../../identity/auth/caller.ts";
import { logged } from "./call-tool.ts";
import type { McpRequest } from "./tool.ts";

/** The tools of the project's connectors, as MCP lists them. A user's token is for no project, and has none. */
export async function connectorTools(deps: Deps, { caller, authorization }: McpRequest) {
  if (caller.kind !== "project") return [];
  const { project } = await resolveProject(deps, { authorization }, caller.projectId, "write");
  const tools = await listConnectorTools(deps, project);
  return tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema: { ...inputSchema, type: "object" as const },
    annotations: { openWorldHint: true },
  }));
}

/** Calls a tool of a connector. A failure is a result, as that of svc's own tools. Null: there is no such tool. */
export async function callConnector(
  deps: Deps,
  request: McpRequest,
  name: string,
  args: Record<string, unknown>,
): Promise<CallToolResult | null> {
  const { caller, authorization, signal } = request;
  if (caller.kind !== "project") return null;
  return await logged(deps, request, name.slice(0, NAME_MAX), async () => {
    const { project } = await resolveProject(deps, { authorization }, caller.projectId, "write");
    return await callConnectorTool(deps, { caller, project, signal }, name, args);
  });
}

/** Characters of a name in the log. */
const NAME_MAX = 64;
