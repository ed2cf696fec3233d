import { isObject, textField } from "../../../contract/json.ts";
import type { RemoteParameter, RemoteTool } from "../../../lib/connections.ts";
import { METHODS } from "../http.ts";
import { TOOLS_MAX } from "../limits.ts";
import type { ApiDescription } from "./document.ts";
import { createResolver, follow } from "./schema.ts";

/** Paths of a description that are read. */
const PATHS_MAX = 5_000;
const PARAMETERS_MAX = 60;
/** Headers that svc or the protocol sets. */
const OWN_HEADERS =
  /^(?:authorization|proxy-.*|host|cookie|connection|content-.*|transfer-encoding|accept|accept-encoding|expect|upgrade|te|trailer|user-agent)$/i;
/** A path that means the same to all servers. */
const PATH = /^\/(?!.*\/\/)(?!.*\/\.{1,2}(?:\/|$))[^\\?#%\p{Cc}]*$/u;

/** The operations of an API as tools: those with a JSON body, or none. Further ones than the limit are only counted. */
export function toolsIn({ document, base }: ApiDescription): (RemoteTool | null)[] {
  const { paths } = document;
  if (!isObject(paths)) return [];
  const tools: (RemoteTool | null)[] = [];
  for (const [path, found] of Object.entries(paths).slice(0, PATHS_MAX)) {
    const item = follow(document, found);
    if (!isObject(item)) continue;
    for (const method of METHODS) {
      const operation = Object.hasOwn(item, method.toLowerCase()) ? item[method.toLowerCase()] : undefined;
      if (!isObject(operation)) continue;
      const isOver = tools.length > TOOLS_MAX || !PATH.test(path);
      tools.push(isOver ? null : toolOf(document, base, { method, path, item, operation }));
    }
  }
  return tools;
}

interface Place {
  method: string;
  path: string;
  item: Record<string, unknown>;
  operation: Record<string, unknown>;
}

function toolOf(
  document: Record<string, unknown>,
  base: URL,
  { method, path, item, operation }: Place,
): RemoteTool | null {
  const resolve = createResolver(document);
  const body = bodyOf(document, operation);
  if (body === "unsupported") return null;
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  const parameters: RemoteParameter[] = [];
  const declared = parametersOf(document, item, operation);
  for (const { name, place, isRequired, schema, description } of declared) {
    const argument = Object.hasOwn(properties, name) || name === "body" ? `${place}_${name}` : name;
    if (!isArgument(argument)) continue;
    properties[argument] = described(resolve(schema ?? {}), description);
    if (isRequired) required.push(argument);
    parameters.push({ argument, name, in: place });
  }
  // a path with a part that nothing fills
  const filled = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
  if ([...path.matchAll(/\{([^{}]*)\}/g)].some(([, name = ""]) => !filled.includes(name))) return null;
  if (body) {
    properties["body"] = resolve(body.schema);
    if (body.isRequired) required.push("body");
  }
  const subject = `${method} ${path}`;
  const texts = [textField(operation, "summary"), textField(operation, "description")];
  return {
    original: textField(operation, "operationId") || subject,
    alias: subject,
    description: texts.filter((text) => text !== "").join("\n\n") || subject,
    inputSchema: {
      type: "object",
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
    request: { method, base: base.href, path, parameters, required, hasBody: body !== null },
  };
}

const isArgument = (name: string): boolean => name !== "__proto__" && name.length <= 100;

function described(schema: unknown, description: string): unknown {
  return isObject(schema) && description !== "" && !Object.hasOwn(schema, "description")
    ? { ...schema, description: description.slice(0, 300).toWellFormed() }
    : schema;
}

interface Declared {
  name: string;
  place: RemoteParameter["in"];
  isRequired: boolean;
  schema: unknown;
  description: string;
}

/** Those of the operation replace those of the path. */
function parametersOf(
  document: unknown,
  item: Record<string, unknown>,
  operation: Record<string, unknown>,
): Declared[] {
  const found = new Map<string, Declared>();
  for (const list of [item["parameters"], operation["parameters"]])
    for (const entry of Array.isArray(list) ? list.slice(0, PARAMETERS_MAX) : []) {
      const parameter = follow(document, entry);
      const [name, place] = [textField(parameter, "name"), textField(parameter, "in")];
      const isOwn = place === "header" && (OWN_HEADERS.test(name) || !/^[\w-]{1,64}$/.test(name));
      if (name === "" || isOwn || (place !== "path" && place !== "query" && place !== "header")) continue;
      found.set(`${place} ${name}`, {
        name,
        place,
        isRequired: place === "path" || (isObject(parameter) && parameter["required"] === true),
        schema: isObject(parameter) ? parameter["schema"] : null,
        description: textField(parameter, "description"),
      });
    }
  return [...found.values()];
}

function bodyOf(
  document: unknown,
  operation: Record<string, unknown>,
): { schema: unknown; isRequired: boolean } | "unsupported" | null {
  const body = follow(document, operation["requestBody"] ?? null);
  if (!isObject(body)) return null;
  const content = isObject(body["content"]) ? body["content"] : {};
  const isRequired = body["required"] === true;
  const type = Object.keys(content).find((name) => /^application\/(?:json|[\w.-]+\+json)\b/i.test(name));
  if (type === undefined) return isRequired ? "unsupported" : null;
  const media = content[type];
  return { schema: (isObject(media) ? media["schema"] : null) ?? {}, isRequired };
}
