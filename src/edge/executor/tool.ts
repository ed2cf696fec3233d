import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import type { Deps } from "../../deps.ts";
import { toJsonSchema } from "../../http/openapi/document.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { requireValid } from "./arguments.ts";

/** A request of a client, after authentication. */
export interface McpRequest {
  caller: Caller;
  /** The `Authorization` header, by which a project is resolved, as on the routes. */
  authorization: string;
  requestId: string;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

/** A request, and the project that it is for, which the caller may access. */
export type ProjectRequest = McpRequest & { project: ProjectRow };

/** The result of a tool: text as it is, an object as JSON. */
export type ToolResult = string | Record<string, unknown>;

interface Described {
  name: string;
  title: string;
  /** For an agent: what the tool does, when to use it, what comes next. */
  description: string;
  /** Whether it changes nothing. */
  isRead: boolean;
  /** `user`: only with a user token. */
  callers: "all" | "user";
}

type Run<Request> = (deps: Deps, request: Request, args: unknown) => Promise<ToolResult>;

/** A tool of a project, or of the user. `run` validates the arguments. */
export type Tool = Described & { fields: TProperties } & (
    | { scope: "project"; run: Run<ProjectRequest> }
    | { scope: "user"; run: Run<McpRequest> }
  );

type Definition<Fields extends TProperties, Request> = Described & {
  fields: Fields;
  run(deps: Deps, request: Request, args: Static<TObject<Fields>>): Promise<ToolResult>;
};

/** Defines a tool of a project. Its `fields` do not contain the project. */
export function projectTool<Fields extends TProperties>({
  fields,
  run,
  ...described
}: Definition<Fields, ProjectRequest>): Tool {
  return { ...described, fields, scope: "project", run: validated(Type.Object(fields), run) };
}

/** Defines a tool that is for no project. */
export function userTool<Fields extends TProperties>({
  fields,
  run,
  ...described
}: Definition<Fields, McpRequest>): Tool {
  return { ...described, fields, scope: "user", run: validated(Type.Object(fields), run) };
}

function validated<Fields extends TProperties, Request>(
  input: TObject<Fields>,
  run: Definition<Fields, Request>["run"],
): Run<Request> {
  return async (deps, request, args) => {
    requireValid(input, args);
    return run(deps, request, args);
  };
}

/** The tools that a caller may call. A token of a project or a session cannot start or prompt sessions. */
export function toolsFor(tools: readonly Tool[], { kind }: Caller): Tool[] {
  return tools.filter(({ callers }) => callers === "all" || kind === "user");
}

/** A tool as MCP lists it. A user has many projects, so the project is an argument; a token of a project has one. */
export function describeTool({ name, title, description, isRead, scope, fields }: Tool, { kind }: Caller) {
  const all = scope === "project" && kind === "user" ? { project: PROJECT, ...fields } : fields;
  return {
    name,
    title,
    description,
    inputSchema: { type: "object" as const, ...plainObject(toJsonSchema(Type.Object(all, STRICT))) },
    annotations: { readOnlyHint: isRead, destructiveHint: false, openWorldHint: false },
  };
}

const STRICT = { additionalProperties: false };
const PROJECT = Type.String({
  minLength: 1,
  description: "The project, by its slug or id; list_projects lists them",
});

function plainObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
