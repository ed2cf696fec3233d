import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { DaemonPrompt } from "../../src/contract/daemon.ts";
import { parseJson } from "../../src/contract/json.ts";
import { RUNTIMES } from "../../src/contract/runtimes.ts";
import { SandboxError } from "../../src/sandboxes/provider.ts";
import type { AgentName } from "../../src/sandboxes/runtime/agents.ts";
import { findRuntimeFiles } from "../../src/sandboxes/runtime/find.ts";
import { beginPrompt, outcomeOf } from "./agent-sandbox.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "./sandbox.ts";

/** A message of the runtime's API, as far as the tests read it. */
export interface AcpMessage {
  info: {
    id: string;
    role: string;
    parentID?: string;
    finish?: string;
    error?: { name: string; data: { message: string } };
    time: { created: number; completed?: number };
    tokens?: unknown;
    cost?: number;
    providerID?: string;
    modelID?: string;
  };
  parts: {
    type: string;
    text?: string;
    tool?: string;
    state?: {
      status: string;
      title: string;
      output: string;
      error?: string;
      input: Record<string, unknown>;
      metadata: { diff?: string; files?: unknown[] };
    };
  }[];
}

/** The daemon with an agent of the Agent Client Protocol. */
export interface AcpSandbox extends AsyncDisposable {
  sandbox: Sandbox;
  home: string;
  /** Sends a prompt as the server does, and waits for its outcome. */
  send(text: string): Promise<DaemonPrompt>;
  begin(text: string): Promise<string>;
  conversation(): Promise<string>;
  messages(): Promise<AcpMessage[]>;
  /** The last answer. */
  answer(): Promise<AcpMessage>;
  json(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Gives the reference agent other manners, from its next start on. */
  behave(manners: readonly string[]): void;
}

let built: Promise<string> | null = null;

/** The reference agent as a program of JavaScript, which is how Claude Code's adapter is published. */
export function referenceAgent(): Promise<string> {
  built ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-acp-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    const result = await Bun.build({
      entrypoints: [join(import.meta.dir, "acp-reference.ts")],
      target: "bun",
      outdir: folder,
      naming: "reference.js",
    });
    if (!result.success) throw new Error(result.logs.join("\n"));
    return join(folder, "reference.js");
  })();
  return built;
}

/** @param manners of the reference agent: see `acp-reference.ts` */
export async function startAcpSandbox(
  manners: string[] = [],
  { env, ...options }: SandboxOptions = {},
): Promise<AcpSandbox> {
  const home = mkdtempSync(join(tmpdir(), "svc-acp-home-"));
  setManners(home, manners);
  const sandbox = await startSandbox({
    ...options,
    env: {
      SVC_RUNTIME_NAME: "claude-code",
      SVC_RUNTIME_BIN: await referenceAgent(),
      SVC_RUNTIME_HOME: home,
      SVC_BOOTSTRAP_OPENCODE_SESSION: "1",
      ...env,
    },
  });
  await sandbox.untilHealth(
    "the runtime works",
    ({ runtime, conversation }) => runtime === "ok" && !!conversation,
  );
  return acpSandbox(sandbox, home, () => rmSync(home, { recursive: true, force: true }));
}

function setManners(home: string, manners: readonly string[]): void {
  const folder = join(home, ".acp-reference");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "manners"), manners.join(" "));
}

export function acpSandbox(sandbox: Sandbox, home: string, onEnd: () => void = () => {}): AcpSandbox {
  const json: AcpSandbox["json"] = async (method, path, body) => {
    const response = await sandbox.call(method, path, "user", body);
    return parseJson(await response.text());
  };
  const conversation = async () => (await sandbox.health()).conversation ?? "";
  const messages = async (): Promise<AcpMessage[]> => {
    const response = await sandbox.call("GET", `/session/${await conversation()}/message`);
    return await response.json();
  };
  return {
    sandbox,
    home,
    json,
    conversation,
    messages,
    send: (text) => outcomeOf(sandbox, text),
    begin: (text) => beginPrompt(sandbox, text),
    behave: (manners) => setManners(home, manners),
    async answer() {
      const last = (await messages()).findLast(({ info }) => info.role === "assistant");
      if (!last) throw new Error("there is no answer");
      return last;
    },
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]();
      onEnd();
    },
  };
}

/** The text of an answer. */
export function textOf({ parts }: AcpMessage): string {
  return parts.flatMap((part) => (part.type === "text" ? (part.text ?? "") : [])).join("");
}

/** The data folder in which `.ci/run` installs agents. */
export const AGENTS_CACHE = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "svc");

/** An installed agent's program; null if there is none. */
export function agentProgramOf(name: AgentName): string | null {
  try {
    const { path, program } = findRuntimeFiles({ dataDir: AGENTS_CACHE, runtime: null, binaries: "" }, name);
    return join(path, program);
  } catch (error) {
    if (error instanceof SandboxError) return null;
    throw error;
  }
}

/** The name of an agent for `needs`. */
export function agentTitle(name: AgentName): string {
  return `${RUNTIMES[name].title} for the Agent Client Protocol (SVC_DATA_DIR=~/.cache/svc svc-api runtime install ${name})`;
}
