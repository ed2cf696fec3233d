import { createHash } from "node:crypto";
import type { ConnectorTool } from "../../contract/connector.ts";
import type { Deps } from "../../deps.ts";
import { toJsonSchema } from "../../http/openapi/document.ts";
import type { RemoteTool, RemoteTools } from "../../lib/connections.ts";
import { type Connection, openConnection } from "./connection.ts";
import { httpArguments } from "./http.ts";
import { DESCRIPTION_MAX, LIST_MAX, LIST_MS, ORIGINAL_MAX, SCHEMA_MAX, TOOLS_MAX } from "./limits.ts";
import { listMcpTools } from "./mcp.ts";
import { readDescription } from "./openapi/document.ts";
import { toolsIn } from "./openapi/operations.ts";
import { decide } from "./policy.ts";
import type { ConnectorRow } from "./row.ts";

/** A tool of a connector, under the name that agents call. */
export interface OfferedTool extends RemoteTool {
  name: string;
}

/**
 * The tools of a connector that can be offered, whatever the policies say. They are cached for a minute, unless not wanted.
 * @throws connector_failed, url_not_allowed, secret_missing
 */
export async function toolsOf(
  deps: Deps,
  row: ConnectorRow,
  { isCached = true } = {},
): Promise<{ tools: OfferedTool[]; leftOut: number }> {
  const find = async () => {
    // not the signal of one request: others may wait for the same list
    const connection = await openConnection(deps, row, { signal: new AbortController().signal, ms: LIST_MS });
    return bounded(connection.redact(await describe(deps, connection)));
  };
  const found = isCached ? await deps.connections.tools(keyOf(row), find) : await find();
  const tools = named(row.slug, found.tools);
  return { tools, leftOut: found.leftOut + found.tools.length - tools.length };
}

/** What the policies say of a tool; those of an API without a description are applied to each request. */
export function actionOf({ type, policies }: ConnectorRow, tool: RemoteTool): ConnectorTool["action"] {
  if (type === "http" && policies.length > 0) return "by request";
  return decide(policies, ...subjectsOf(tool));
}

/** The names of a tool that policies match. */
export function subjectsOf({ original, alias }: RemoteTool): string[] {
  return alias === undefined ? [original] : [original, alias];
}

/** Everything that a list depends on, except the value of the secret. */
function keyOf({ policies: _, position: __, commit, ...row }: ConnectorRow): string {
  return JSON.stringify([row, row.type === "openapi" ? commit : null]);
}

/** Null: a tool that cannot be offered. */
async function describe(deps: Deps, connection: Connection): Promise<(RemoteTool | null)[]> {
  const { row } = connection;
  if (row.type === "http") return [request(row)];
  if (row.type === "openapi") return toolsIn(await readDescription(deps, connection));
  const tools = await listMcpTools(connection);
  return tools.map(({ name, title, description, inputSchema }) => ({
    original: name,
    description: description ?? title ?? "",
    inputSchema,
  }));
}

function request({ slug, url }: ConnectorRow): RemoteTool {
  return {
    original: "request",
    description: `Sends a request to the API of ${slug}, at ${url}. svc adds the credential. The result is the status and the body of the response.`,
    inputSchema: { ...Object(toJsonSchema(httpArguments)) },
  };
}

/** Leaves out what a service may have sent to fill the model's context, or the memory. */
function bounded(tools: readonly (RemoteTool | null)[]): RemoteTools {
  const kept: RemoteTool[] = [];
  let size = 0;
  for (const tool of tools) {
    if (tool === null) continue;
    const description = tool.description.slice(0, DESCRIPTION_MAX).toWellFormed();
    const schema = JSON.stringify(tool.inputSchema).length;
    const isFit =
      schema <= SCHEMA_MAX && tool.original.length <= ORIGINAL_MAX && !/[\p{Cc}\p{Cs}]/u.test(tool.original);
    if (!isFit || kept.length === TOOLS_MAX || size + schema + description.length > LIST_MAX) continue;
    size += schema + description.length;
    kept.push({ ...tool, description });
  }
  return { tools: kept, leftOut: tools.length - kept.length };
}

/** The common limit of model APIs, without the prefix that runtimes add. */
const NAME_MAX = 50;
const HASH_LENGTH = 8;

/** Names the tools `slug_tool`. Of two with the same name, the first is offered. */
function named(slug: string, tools: readonly RemoteTool[]): OfferedTool[] {
  const names = new Map<string, OfferedTool>();
  for (const tool of tools) {
    const name = `${slug}_${plainName(tool.original, NAME_MAX - slug.length - 1)}`;
    if (!names.has(name)) names.set(name, { ...tool, name });
  }
  return [...names.values()];
}

/** A name of the characters that model APIs allow. One that had to be changed ends with a hash of the original. */
function plainName(original: string, max: number): string {
  if (/^[\w-]+$/.test(original) && original.length <= max) return original;
  const hash = createHash("sha256").update(original).digest("hex").slice(0, HASH_LENGTH);
  return `${original.replace(/[^\w-]/g, "_").slice(0, max - HASH_LENGTH - 1)}_${hash}`;
}
