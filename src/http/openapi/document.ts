import { OptionalKind } from "@sinclair/typebox";
import { ERROR_STATUS } from "../../contract/errors.ts";
import { isObject } from "../../contract/json.ts";
import { VERSION } from "../../contract/version.ts";
import { OPERATIONS } from "./operations.ts";
import { FAILED, OUTSIDE_PATHS } from "./outside.ts";
import { TAGS } from "./tags.ts";

/** A route of the framework, with the schemas that validate its requests. */
interface Route {
  method: string;
  path: string;
  hooks?: unknown;
}

/** A JSON object of the document. */
type Json = Record<string, unknown>;

/**
 * The OpenAPI 3.1 document of the API under `/v1`, from its routes: what validates a request describes it. The paths that
 * the framework does not serve, git and the proxy, are added (`outside.ts`).
 */
export function openapiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const hooks = objectOf(route.hooks);
    if (!route.path.startsWith("/v1/") || objectOf(hooks["detail"])["hide"] === true) continue;
    const path = route.path.replace(/:(\w+)/g, "{$1}").replace("*", `{${WILDCARD}}`);
    const item = paths[path] ?? {};
    item[route.method.toLowerCase()] = operation(route, hooks);
    paths[path] = item;
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "svc",
      version: VERSION,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This server" }],
    tags: TAGS,
    paths: { ...paths, ...OUTSIDE_PATHS },
    components: { schemas: { Error: ERROR }, responses: RESPONSES, securitySchemes: SECURITY_SCHEMES },
  };
}

/** The name of a parameter that matches the rest of a path. */
const WILDCARD = "branch";

function operation({ method, path }: Route, hooks: Json): Json {
  const { responses, parameters, security = [], ...detail } = objectOf(hooks["detail"]);
  const [operationId, summary] = OPERATIONS[`${method} ${path}`] ?? [];
  const own = [
    ...pathParameters(path, objectOf(hooks["params"])),
    ...fieldsOf("query", objectOf(hooks["query"])),
    ...(Array.isArray(parameters) ? parameters : []),
  ];
  const body = hooks["body"];
  return {
    operationId,
    summary,
    ...detail,
    security,
    ...(own.length > 0 && { parameters: own }),
    ...(isObject(body) && {
      requestBody: {
        required: !(OptionalKind in body),
        content: { "application/json": { schema: toJsonSchema(body) } },
      },
    }),
    responses: {
      ...objectOf(responses),
      ...((own.length > 0 || isObject(body)) && { 400: { $ref: "#/components/responses/Invalid" } }),
      ...(Array.isArray(security) && security.length > 0 && FORBIDDEN),
      ...(path.includes(":") && { 404: { $ref: "#/components/responses/NotFound" } }),
      ...FAILED,
    },
  };
}

const FORBIDDEN = {
  401: { $ref: "#/components/responses/Unauthorized" },
  403: { $ref: "#/components/responses/Forbidden" },
};

function pathParameters(path: string, schema: Json): Json[] {
  const properties = objectOf(schema["properties"]);
  const named = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: toJsonSchema(properties[name] ?? { type: "string" }),
  }));
  if (!path.includes("*")) return named;
  const rest = { name: WILDCARD, in: "path", required: true, schema: { type: "string" } };
  return [...named, { ...rest, description: "The rest of the path, with its slashes" }];
}

function fieldsOf(place: "query", schema: Json): Json[] {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.entries(objectOf(schema["properties"])).map(([name, property]) => {
    const { description, ...rest } = objectOf(toJsonSchema(property));
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}

/** TypeBox schemas are JSON Schema, apart from their symbols; a union of literals is shorter as an `enum`. */
export function toJsonSchema(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    if (!isObject(value) || !Array.isArray(value["anyOf"])) return value;
    const { anyOf, ...rest } = value;
    const literals = value["anyOf"].map((member: unknown) => objectOf(member)["const"]);
    return literals.every((literal) => typeof literal === "string")
      ? { ...rest, type: "string", enum: literals }
      : value;
  });
}

function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

const ERROR = {
  type: "object",
  required: ["error", "code"],
  properties: {
    error: { type: "string", description: "What happened, to what, and what to do next" },
    code: {
      type: "string",
      enum: Object.keys(ERROR_STATUS),
      description: "Never changes its meaning; there may be more in later versions",
    },
    request_id: { type: "string", description: "The server's log has the cause under this id" },
  },
  additionalProperties: true,
};

const errorResponse = (description: string) => ({
  description,
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
});

const RESPONSES = {
  Invalid: errorResponse("The request is not valid"),
  Unauthorized: errorResponse("The credential is missing, unknown, revoked or expired"),
  Forbidden: errorResponse("The caller may not do this"),
  NotFound: errorResponse("Not found, or not visible to the caller"),
  Failed: errorResponse("Any other error, by its code"),
};

const SECURITY_SCHEMES = {
  token: {
    type: "http",
    scheme: "bearer",
    description: "A user token or a project token. The dashboard sends its cookie instead.",
  },
  userToken: { type: "http", scheme: "bearer", description: "A user token. The dashboard sends its cookie." },
  serviceKey: {
    type: "http",
    scheme: "bearer",
    description: "The service key of a sandbox, or a project token",
  },
  git: { type: "http", scheme: "basic", description: "Any user name; a token as the password" },
};

const DESCRIPTION = `Projects, sessions with agents, change requests, apps and triggers.

Bodies are JSON in UTF-8. Lists are paged: \`limit\` and \`cursor\`, which the previous page returns as \`next_cursor\`. Every
error has the body of the schema \`Error\`. Every response has the header \`X-Request-Id\`.`;
