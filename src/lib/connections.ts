import { createCache } from "./cache.ts";
import { createGate, type Gate } from "./gate.ts";

/** A tool of another service, as it describes itself. */
export interface RemoteTool {
  /** The service's own name of it. */
  original: string;
  /** Another name for it, such as the method and path of an operation. */
  alias?: string;
  description: string;
  /** A JSON Schema of an object. */
  inputSchema: Record<string, unknown>;
  /** The request that it stands for, if the service is not one of tools. */
  request?: RemoteRequest;
}

/** An operation of an API. */
export interface RemoteRequest {
  method: string;
  base: string;
  /** Below the base, with `{name}` for parameters. */
  path: string;
  parameters: readonly RemoteParameter[];
  /** Names of arguments. */
  required: readonly string[];
  hasBody: boolean;
}

export interface RemoteParameter {
  argument: string;
  name: string;
  in: "path" | "query" | "header";
}

/** The tools of a service, and how many of its tools cannot be offered. */
export interface RemoteTools {
  tools: readonly RemoteTool[];
  leftOut: number;
}

/** What a server remembers of the services that it calls for agents. */
export interface Connections {
  /** Caches lists of tools, by everything that they depend on. */
  tools(key: string, find: () => Promise<RemoteTools>): RemoteTools | Promise<RemoteTools>;
  /** Limits the calls that run at a time, by project. */
  gate: Gate;
  /** How long a call waits for a person before the agent has to repeat it. */
  askWaitMs: number;
}

/** Long enough for the start of a session, which lists the tools and then calls them. */
const KEPT_MS = 60_000;
/** Lists, of up to 256 KiB each. */
const KEPT_MAX = 200;
/** A call waits for another service: few are enough for one project, and a slow one delays its own project only. */
const CALLS = { total: 64, perKey: 8, queue: 256, queuePerKey: 32, waitMs: 10_000 };

/** With the time of a call (`features/connectors/limits.ts`), less than the minute that runtimes and clients wait. */
const ASK_WAIT_MS = 20_000;

export function openConnections({ askWaitMs = ASK_WAIT_MS } = {}): Connections {
  const tools = createCache<RemoteTools>({ keepMs: KEPT_MS, max: KEPT_MAX }, () => true);
  return { tools, gate: createGate(CALLS, "connector calls"), askWaitMs };
}
