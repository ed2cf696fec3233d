import { AGENT_MODES, type Agent } from "../../contract/agent.ts";
import { field } from "../../contract/json.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import { RUNTIME_AGENTS } from "../../contract/runtime.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { entriesOf } from "../../sandboxes/tar.ts";
import { findAgentConfig, packAgentConfig } from "./agent-config.ts";

const AGENTS_MAX = 200;
/** Bytes of a file that are read: enough for its front matter. */
const TEXT_MAX_BYTES = 64 * 1024;
const DESCRIPTION_MAX = 500;

/**
 * The agents that sessions of a project can use: those in the folder on the default branch, then those built into the
 * runtime. A project's agent replaces one of the runtime with the same name.
 * @throws SvcError when the repository does not respond; payload_too_large
 */
export async function listAgents(deps: Deps, project: ProjectRow): Promise<{ agents: Agent[] }> {
  const known = new Map(RUNTIME_AGENTS.map((agent) => [agent.name, agent]));
  const found = await findAgentConfig(deps, project);
  if (found) addFrom(known, await readFiles(await packAgentConfig(deps, project, found)));
  const agents = [...known.values()].sort(
    (a, b) => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : Number(a.name > b.name)),
  );
  return { agents: agents.slice(0, AGENTS_MAX) };
}

const rankOf = ({ source }: Agent): number => (source === "project" ? 0 : 1);

interface Files {
  /** Texts of `opencode.json` and `opencode.jsonc`, in this order. */
  configs: string[];
  agents: { name: string; text: string; mode: Agent["mode"] | null }[];
}

/** The folders that the runtime reads: `agents/`, `agent/`, and for primary agents `modes/`, `mode/`. */
const AGENT_FILE = /^(?:\.\/)?(agents?|modes?)\/(.+)\.md$/;
const CONFIG_FILE = /^(?:\.\/)?opencode\.jsonc?$/;

async function readFiles(tar: Uint8Array): Promise<Files> {
  const files: Files = { configs: [], agents: [] };
  for await (const { header, pieces } of entriesOf(once(tar))) {
    const text = await readStart(pieces);
    const [, folder, name] = AGENT_FILE.exec(header.name) ?? [];
    if (header.type === "directory") continue;
    if (CONFIG_FILE.test(header.name)) files.configs.push(text);
    if (folder !== undefined && name !== undefined && name.length <= NAME_MAX)
      files.agents.push({ name, text, mode: folder.startsWith("mode") ? "primary" : null });
  }
  return files;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Reads an entry to its end, as a tar requires, and returns its start. */
async function readStart(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    if (bytes < TEXT_MAX_BYTES) parts.push(piece);
    bytes += piece.length;
  }
  return Buffer.concat(parts).toString("utf8", 0, TEXT_MAX_BYTES);
}

function addFrom(known: Map<string, Agent>, { configs, agents }: Files): void {
  for (const text of configs) {
    const settings = parsed(() => Bun.JSONC.parse(text), "agent");
    for (const [name, of] of Object.entries(Object(settings)).slice(0, AGENTS_MAX))
      add(known, name, of, null);
  }
  for (const { name, text, mode } of agents.slice(0, AGENTS_MAX)) {
    const head = /^---\n([\s\S]*?)\n---/.exec(text.replaceAll("\r\n", "\n"))?.[1] ?? "";
    add(known, name, readHead(head), mode);
  }
}

/**
 * The fields of an agent's front matter that svc uses. It is YAML, whose aliases can take seconds to expand, so only
 * scalars are parsed, each on its own.
 */
function readHead(lines: string): Record<string, unknown> {
  const scalar = (key: string): unknown => {
    const form = new RegExp(`^${key}:[ \\t]+([^\\s[{&*!?#].*(?:\\n(?:[ \\t].*)?)*)`, "m");
    const value = form.exec(lines)?.[1];
    return value === undefined ? null : parsed(() => Bun.YAML.parse(`value: ${value}`), "value");
  };
  return { description: scalar("description"), mode: scalar("mode"), disable: scalar("disable") };
}

/** A value that cannot be parsed counts as missing. */
function parsed(parse: () => unknown, key: string): unknown {
  try {
    return field(parse(), key);
  } catch {
    return null;
  }
}

function add(known: Map<string, Agent>, name: string, head: unknown, mode: Agent["mode"] | null): void {
  if (field(head, "disable") === true) {
    known.delete(name);
    return;
  }
  const before = known.get(name);
  const description = field(head, "description");
  known.set(name, {
    name,
    description:
      typeof description === "string" ? description.slice(0, DESCRIPTION_MAX) : (before?.description ?? null),
    mode: mode ?? AGENT_MODES.find((each) => each === field(head, "mode")) ?? before?.mode ?? "all",
    source: "project",
  });
}
