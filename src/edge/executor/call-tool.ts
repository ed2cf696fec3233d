import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { toBody, toSvcError } from "../../http/errors.ts";
import { type Caller, resolveProject } from "../../identity/auth/caller.ts";
import type { McpRequest, Tool, ToolResult } from "./tool.ts";

/**
 * The most text of a result, in characters: about 30,000 tokens of a model's context. Tools return less by themselves.
 */
const RESULT_MAX = 120_000;

/**
 * Runs a tool. A failure is a result, which the model reads: the same body as the API's, with its code and the next step.
 * The log has the tool and the outcome, never arguments or results.
 */
export async function callTool(
  deps: Deps,
  request: McpRequest,
  tool: Tool,
  args: Record<string, unknown>,
): Promise<CallToolResult> {
  return await logged(deps, request, tool.name, async () => {
    const result = textOf(await run(deps, request, tool, args));
    return { content: [{ type: "text", text: result }] };
  });
}

/** Logs a call with its outcome, and makes a failure a result. A call that returns null is not logged. */
export async function logged<Result extends CallToolResult | null>(
  deps: Pick<Deps, "log">,
  { caller, requestId }: McpRequest,
  tool: string,
  call: () => Promise<Result>,
): Promise<Result | CallToolResult> {
  const started = performance.now();
  const log = (outcome: string) => {
    const ms = Math.round(performance.now() - started);
    deps.log.info({ request: requestId, tool, by: caller.kind, outcome, ms }, "tool called");
  };
  try {
    const result = await call();
    if (result !== null) log("ok");
    return result;
  } catch (error) {
    const failure = toSvcError(error, "UNKNOWN", requestId);
    if (failure.code === "internal") deps.log.error({ request: requestId, err: error }, failure.message);
    log(failure.code);
    return { isError: true, content: [{ type: "text", text: JSON.stringify(toBody(failure)) }] };
  }
}

/** The project is resolved as on the routes: membership and token decide, before the arguments are validated. */
async function run(deps: Deps, request: McpRequest, tool: Tool, args: Record<string, unknown>) {
  if (tool.scope === "user") return tool.run(deps, request, args);
  const { project: named, ...rest } = args;
  const credentials = { authorization: request.authorization };
  const { project } = await resolveProject(deps, credentials, projectName(request.caller, named), "write");
  return tool.run(deps, { ...request, project }, rest);
}

/** @throws validation_failed for a user's call without a project */
function projectName(caller: Caller, named: unknown): string {
  if (typeof named === "string" && named !== "") return named;
  if (named === undefined && caller.kind === "project") return caller.projectId;
  throw new SvcError(
    "validation_failed",
    "project is required: the slug or id of a project. List them with the tool list_projects.",
  );
}

function textOf(result: ToolResult): string {
  const text = typeof result === "string" ? result : JSON.stringify(result);
  if (text.length <= RESULT_MAX) return text;
  return `${text.slice(0, RESULT_MAX).toWellFormed()}\n[svc: the result is cut. Request less of it: a lower limit, or one path.]`;
}
