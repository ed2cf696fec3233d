import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { Value } from "@sinclair/typebox/value";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { validationFailed } from "../../http/validation.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { type AskRow, requireApproval, takeApproval } from "./ask.ts";
import { openConnection } from "./connection.ts";
import { connectorUrl } from "./failure.ts";
import {
  escapePath,
  type HttpArguments,
  type HttpRequest,
  httpArguments,
  requirePlainPath,
  sendHttp,
  subjectOf,
} from "./http.ts";
import { CALL_MS } from "./limits.ts";
import { callMcpTool } from "./mcp.ts";
import { requestOf } from "./openapi/request.ts";
import { decide } from "./policy.ts";
import { recordCall, recordEnd } from "./record.ts";
import { boundedResult, textResult } from "./result.ts";
import { type ConnectorRow, connectorsOf, lookUpConnector } from "./row.ts";
import { actionOf, type OfferedTool, subjectsOf, toolsOf } from "./tools.ts";

/** A request of an agent, which may access the project. */
export interface AgentRequest {
  caller: Caller;
  project: ProjectRow;
  signal: AbortSignal;
}

/** The tools of all connectors that an agent may call. A connector that fails has none. */
export async function listConnectorTools(deps: Deps, project: ProjectRow): Promise<OfferedTool[]> {
  const rows = await connectorsOf(deps.db, project);
  const lists = await Promise.all(
    rows.map(async (row) => {
      try {
        const { tools } = await toolsOf(deps, row);
        return tools.filter((tool) => actionOf(row, tool) !== "deny");
      } catch (error) {
        deps.log.info(
          { project: project.projectId, connector: row.slug, err: error },
          "cannot list the tools",
        );
        return [];
      }
    }),
  );
  return lists.flat();
}

/**
 * Calls a tool of a connector, if the policies and, where they say so, a person allow it.
 * @returns null: there is no such tool
 * @throws tool_denied, approval_pending, connector_failed, url_not_allowed, secret_missing, validation_failed,
 *   rate_limited, unavailable
 */
export async function callConnectorTool(
  deps: Deps,
  request: AgentRequest,
  name: string,
  args: Record<string, unknown>,
): Promise<CallToolResult | null> {
  const { caller, project, signal } = request;
  // slugs have no _
  const row = await lookUpConnector(deps.db, project, name.slice(0, Math.max(0, name.indexOf("_"))));
  if (!row) return null;
  const tool = (await toolsOf(deps, row)).tools.find((each) => each.name === name);
  if (!tool) return null;
  const subject = subjectOfCall(row, tool, args);
  const action = decide(row.policies, ...(row.type === "http" ? [subject] : subjectsOf(tool)));
  const start = { connector: row.slug, tool: subject, action };
  if (action === "deny") {
    await recordCall(deps, caller, project, { ...start, outcome: "denied" });
    throw denied(row, subject);
  }
  const call = { row, tool, args, start };
  if (action !== "ask") return await execute(deps, request, call, null);
  const asked = { row, caller, project, tool: subject, args, signal };
  for (;;) {
    const ask = await requireApproval(deps, asked).catch(async (error) => {
      if (error instanceof SvcError && error.code === "tool_denied")
        await recordCall(deps, caller, project, { ...start, outcome: "denied", error: error.message });
      throw error;
    });
    const result = await execute(deps, request, call, ask);
    // the same call at the same time has used the approval: this one needs another
    if (result !== null) return result;
  }
}

interface AllowedCall {
  row: ConnectorRow;
  tool: OfferedTool;
  args: Record<string, unknown>;
  /** What is recorded of it. */
  start: { connector: string; tool: string; action: ReturnType<typeof decide> };
}

/**
 * Sends a call as soon as it has a slot.
 * @param ask the approval that it needs, which is used once the call has its slot: waiting in vain does not cost it
 * @returns null: the approval cannot be used any more
 */
async function execute(
  deps: Deps,
  { caller, project, signal }: AgentRequest,
  { row, tool, args, start }: AllowedCall,
  ask: AskRow | null,
): Promise<CallToolResult | null> {
  const work = async () => {
    if (ask && !(await takeApproval(deps, ask, signal))) return null;
    const callId = await recordCall(deps, caller, project, { ...start, outcome: "running" });
    const started = performance.now();
    try {
      const result = await send(deps, row, tool, args, signal);
      const error = result.isError === true ? `The connector "${row.slug}" answered with an error.` : null;
      await recordEnd(deps, callId, performance.now() - started, error);
      return result;
    } catch (error) {
      const why = error instanceof SvcError ? error.message : "svc had an internal error.";
      await recordEnd(deps, callId, performance.now() - started, why);
      throw error;
    }
  };
  return await deps.connections.gate(project.projectId, work, signal);
}

/** What the policies match. @throws validation_failed */
function subjectOfCall({ type }: ConnectorRow, tool: OfferedTool, args: Record<string, unknown>): string {
  if (type !== "http") return tool.original;
  requireRequest(args);
  requirePlainPath(args.path);
  return subjectOf(args);
}

function requireRequest(args: unknown): asserts args is HttpArguments {
  if (!Value.Check(httpArguments, args))
    throw validationFailed({ type: "arguments", all: [...Value.Errors(httpArguments, args)] });
}

async function send(
  deps: Deps,
  row: ConnectorRow,
  tool: OfferedTool,
  args: Record<string, unknown>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const connection = await openConnection(deps, row, { signal, ms: CALL_MS });
  if (row.type === "mcp")
    return boundedResult(connection.redact(await callMcpTool(connection, tool.original, args)));
  const base = connectorUrl(row, tool.request?.base ?? row.url ?? "");
  const sent = await sendHttp(
    connection,
    base,
    tool.request ? requestOf(tool.request, args) : plainRequest(args),
  );
  return textResult(connection.redact(sent));
}

function plainRequest(args: Record<string, unknown>): HttpRequest {
  requireRequest(args);
  const { method, path, query = {}, body } = args;
  const pairs = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
  return {
    method,
    path: escapePath(path),
    query: new URLSearchParams(pairs),
    body: body === undefined ? null : JSON.stringify(body),
  };
}

function denied({ slug }: ConnectorRow, subject: string): SvcError {
  return new SvcError(
    "tool_denied",
    `The policies of the connector "${slug}" deny ${subject}. They are in svc.toml on the default branch; a change needs a change request.`,
  );
}
