import * as kinds from "./kinds.ts";
import {
  isTable,
  type ListShape,
  lacks,
  nameOf,
  type Path,
  type Problem,
  type Table,
  type TableShape,
  wrong,
} from "./shape.ts";
import { stringOf } from "./values.ts";

/** Tools of another service that agents can call (contract: Models, connectors, channels). */
export interface ManifestConnector {
  /** The first part of its tools' names: `slug_tool`. */
  slug: string;
  type: "mcp" | "http" | "openapi";
  /** Null: the first server of the OpenAPI description. */
  url: string | null;
  /** The OpenAPI description: a path in the repository or a URL; null for the other types. */
  spec: string | null;
  /** The project's secret that is sent to it, or `oauth`: what a person connects; null: none. */
  auth: string | null;
  /** The header that carries the secret as it is; null: `Authorization: Bearer <secret>`. */
  authHeader: string | null;
  /** In order: the first that matches decides. */
  policies: ConnectorPolicy[];
}

export interface ConnectorPolicy {
  /** A pattern, in which `*` matches any characters. */
  match: string;
  action: "allow" | "ask" | "deny";
}

/** Connectors of one project: the list of tools asks each. */
const CONNECTORS_MAX = 20;
const POLICIES_MAX = 100;

const policies: ListShape = {
  is: "list",
  about: "What its tools may be called for: the first policy that matches decides, and none denies.",
  itemsMax: POLICIES_MAX,
  item: {
    is: "table",
    about: "A policy.",
    fields: {
      match: {
        is: "value",
        kind: kinds.toolPattern,
        need: "required",
        example: "get_*",
        about: "The tools, or for type `http` the requests such as `GET /repos/*`. `*` matches anything.",
      },
      action: {
        is: "value",
        kind: kinds.policyAction,
        need: "required",
        example: "allow",
        about: "`allow`, `ask` (a person decides on each call) or `deny`.",
      },
    },
  },
};

const fields: TableShape["fields"] = {
  slug: {
    is: "value",
    kind: kinds.connectorSlug,
    need: "required",
    example: "github",
    about: "The first part of the names of its tools, unique in the project.",
  },
  type: {
    is: "value",
    kind: kinds.connectorType,
    need: "required",
    example: "mcp",
    about: "`mcp` (a server of the Model Context Protocol), `openapi` (a described API) or `http` (any API).",
  },
  url: {
    is: "value",
    kind: kinds.url,
    example: "https://example.com/mcp",
    about: "Its address. For `openapi`, by default the first server of the description.",
  },
  spec: {
    is: "value",
    kind: kinds.spec,
    example: "docs/openapi.json",
    about: "The OpenAPI description, a path in the repository or a URL. Only for type `openapi`.",
  },
  auth: {
    is: "value",
    kind: kinds.connectorAuth,
    example: "GITHUB_TOKEN",
    about:
      'The project\'s secret that svc sends to it. No sandbox gets this secret. Or `"oauth"` (only type `mcp`): an owner or admin authorizes svc with `svc connectors connect`.',
  },
  auth_header: {
    is: "value",
    kind: kinds.header,
    example: "X-Api-Key",
    about: "The header that carries the secret as it is. By default `Authorization: Bearer <secret>`.",
  },
  policies,
};

export const connectorsShape: ListShape = {
  is: "list",
  about: "Services whose tools agents can call through svc, without their credentials.",
  itemsMax: CONNECTORS_MAX,
  item: {
    is: "table",
    about: "A connector.",
    fields,
    problemsOf: problemsOfConnector,
    schema: {
      anyOf: [
        { properties: { type: { enum: ["mcp", "http"] }, spec: false }, required: ["url"] },
        { properties: { type: { enum: ["openapi"] } }, required: ["spec"] },
      ],
    },
  },
};

function problemsOfConnector(connector: Table, path: Path): Problem[] {
  const { type } = connector;
  if (!kinds.connectorType.fits(type)) return [];
  const needed = type === "openapi" ? "spec" : "url";
  const problems = Object.hasOwn(connector, needed) ? [] : [lacks(fields, path, needed)];
  if (type !== "openapi" && Object.hasOwn(connector, "spec")) problems.push(idle([...path, "spec"], type));
  if (Object.hasOwn(connector, "auth_header") && !Object.hasOwn(connector, "auth"))
    problems.push(wrong([...path, "auth_header"], "needs auth, which names the secret"));
  if (connector["auth"] === kinds.OAUTH && type !== "mcp")
    problems.push(wrong([...path, "auth"], 'can be "oauth" only for type "mcp"'));
  if (connector["auth"] === kinds.OAUTH && Object.hasOwn(connector, "auth_header"))
    problems.push(wrong([...path, "auth_header"], 'cannot be set with auth = "oauth"'));
  return problems;
}

function idle(path: Path, type: string): Problem {
  const message = `${nameOf(path)} has no effect in a connector of type "${type}".`;
  return { path, at: "key", message, severity: "warning" };
}

/** @param connector a valid one */
export function readConnector(connector: Table): ManifestConnector {
  const { type, policies: list } = connector;
  const isDescribed = type === "openapi";
  return {
    slug: stringOf(connector, "slug") ?? "",
    type: kinds.connectorType.fits(type) ? type : "mcp",
    url: stringOf(connector, "url"),
    spec: isDescribed ? stringOf(connector, "spec") : null,
    auth: stringOf(connector, "auth"),
    authHeader: stringOf(connector, "auth_header"),
    policies: Array.isArray(list) ? list.filter(isTable).map(readPolicy) : [],
  };
}

function readPolicy(policy: Table): ConnectorPolicy {
  const { action } = policy;
  return {
    match: stringOf(policy, "match") ?? "",
    action: kinds.policyAction.fits(action) ? action : "deny",
  };
}

/** The secrets that connectors name, those of invalid entries included: no sandbox gets them. */
export function connectorSecrets(root: Table): string[] {
  const list = Object.hasOwn(root, "connectors") ? root["connectors"] : [];
  const entries = Array.isArray(list) ? list.filter(isTable) : isTable(list) ? [list] : [];
  return [...new Set(entries.map((entry) => stringOf(entry, "auth")).filter(kinds.secretName.fits))];
}
