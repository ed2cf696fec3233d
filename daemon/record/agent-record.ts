import type { AgentRecord } from "../../src/contract/agent-record.ts";
import { DAEMON_MARK } from "../../src/contract/conversation.ts";
import { arrayOf, field, parseJson, textField } from "../../src/contract/json.ts";
import { AGENT_RECORD_BODY_MAX_BYTES, AGENT_RECORD_MAX_BYTES } from "../../src/contract/limits.ts";
import type { Log } from "../log.ts";
import { asAgent, type Children, type Command, signalGroup } from "../process/children.ts";
import { forEachChunk } from "../process/output.ts";
import type { Conversation } from "../prompts/conversation.ts";
import { runningSessions } from "../runtime/abort.ts";
import { createHome } from "../runtime/home-files.ts";
import { addNote } from "../runtime/note.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Settings } from "../settings.ts";
import { TOO_LARGE } from "./command.ts";
import { recordPaths } from "./paths.ts";

export interface RecordContext {
  settings: Settings;
  children: Children;
  log: Log;
  conversation: Pick<Conversation, "find" | "open">;
  runtime(): Pick<Runtime, "state" | "call">;
  /** The command that starts this program. */
  program: readonly string[];
  limits?: Partial<RecordLimits>;
}

export interface RecordLimits {
  /** The interval at which it looks whether a turn has ended. */
  recordIntervalMs: number;
}

const LIMITS: RecordLimits = { recordIntervalMs: 30_000 };
/** For one record: to pack it, and to send it. */
const PACK_MS = 30_000;
const SEND_MS = 60_000;
const CALL_MS = 5_000;

const NO_RECORD = `${DAEMON_MARK}The agent's own record of the conversation is not in this sandbox. The agent was told a summary of the last turns.`;
const OLD_RECORD = `${DAEMON_MARK}The agent's own record of the conversation ends before the last turns. The agent was told a summary of them.`;

/**
 * The agent's own record of the session's conversation. It is sent to svc after each turn and before the sandbox ends, and
 * restored in the next sandbox before the agent starts, which then continues as if it had never ended.
 */
export class AgentRecordKeeper {
  /** What the agent is told of earlier sandboxes before its first prompt; null: nothing, or it was told. */
  #note: { text: string; recap: string } | null;
  readonly #context: RecordContext;
  readonly #limits: RecordLimits;
  /** The newest message of the last record. */
  #saved: string | null = null;
  #saving: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(context: RecordContext) {
    this.#context = context;
    this.#limits = { ...LIMITS, ...context.limits };
    const { recap } = context.settings.earlier;
    this.#note = recap === null ? null : { text: NO_RECORD, recap };
  }

  /** Keeps the record after each turn from now on. */
  start(): void {
    this.#timer ??= setInterval(() => void this.save(), this.#limits.recordIntervalMs);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Sends the record to svc, unless nothing was said since, or a run is under way. It does not reject: a failure is logged. */
  async save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#save()).catch((error) => this.#report("kept", error));
    await this.#saving;
  }

  /** Restores the record of an earlier sandbox, if svc has one, before the agent starts. It does not reject. */
  async restore(signal: AbortSignal): Promise<void> {
    const { settings, log } = this.#context;
    const { recorded } = settings.earlier;
    if (recorded === null) return;
    try {
      const { workspace, record } = await this.#fetch(signal);
      if (workspace !== settings.workspace) throw new RecordError("the workspace was in another folder.");
      await createHome(settings);
      const { code } = await this.#run("unpack", Buffer.from(record, "base64"));
      if (code !== 0) throw new RecordError("it could not be unpacked.");
      const { since } = recorded;
      this.#note = since === null ? null : { text: OLD_RECORD, recap: since };
      log.info("restored the agent's own record of the conversation");
    } catch (error) {
      this.#report("restored", error);
    }
  }

  /** Tells the agent what its own record does not have, before its first prompt. It does not reject: it is tried again. */
  async tell(): Promise<void> {
    if (this.#note === null) return;
    const { conversation, runtime, log } = this.#context;
    const { text, recap } = this.#note;
    const id = await conversation.open().catch(() => null);
    if (id === null || !(await addNote(runtime().call, id, text, recap))) return;
    this.#note = null;
    log.info(text.slice(DAEMON_MARK.length));
  }

  async #save(): Promise<void> {
    const { call, state } = this.#context.runtime();
    if (state !== "ok" || (await runningSessions(call))?.length !== 0) return;
    const newest = await this.#newest();
    if (newest === null || newest.id === this.#saved) return;
    const { code, output } = await this.#run("pack");
    if (code !== 0) throw new RecordError(code === TOO_LARGE ? "it is too large." : "it could not be read.");
    const { workspace } = this.#context.settings;
    const record = Buffer.from(output).toString("base64");
    await this.#send({ turn_id: newest.turnId, workspace, record });
    this.#saved = newest.id;
  }

  /** The newest message of the conversation, and the turn that it is part of. */
  async #newest(): Promise<{ id: string; turnId: string } | null> {
    const id = await this.#context.conversation.find();
    if (id === null) return null;
    const { call } = this.#context.runtime();
    const { status, body } = await call("GET", `/session/${id}/message?limit=1`, CALL_MS);
    const info = field(arrayOf(body).at(-1), "info");
    if (status !== 200 || !info) return null;
    const message = textField(info, "id");
    return { id: message, turnId: textField(info, "parentID") || message };
  }

  /** Runs `svc-agent record` as the agent. */
  async #run(
    verb: "pack" | "unpack",
    stdin?: Uint8Array,
  ): Promise<{ code: number | null; output: Uint8Array }> {
    const { settings, children, program } = this.#context;
    const { home, runtime, inherited } = settings;
    const command: Command = {
      ...asAgent(settings, [...program, "record", verb, home, ...recordPaths(runtime)]),
      environment: { PATH: inherited["PATH"] ?? "/usr/bin:/bin", HOME: home },
      directory: "/",
      ...(stdin && { stdin }),
    };
    const child = children.start(command);
    const end = () => signalGroup(child.pid, "SIGKILL");
    const signal = AbortSignal.timeout(PACK_MS);
    signal.addEventListener("abort", end);
    const parts: Uint8Array[] = [];
    let bytes = 0;
    const life = { exited: child.exited, signal };
    await Promise.all([
      forEachChunk(child.stdout, life, (part) => {
        bytes += part.length;
        if (bytes <= AGENT_RECORD_MAX_BYTES) parts.push(part);
        else end();
      }),
      forEachChunk(child.stderr, life, () => {}),
      child.exited,
    ]);
    signal.removeEventListener("abort", end);
    return { code: child.exitCode, output: Buffer.concat(parts) };
  }

  async #fetch(signal: AbortSignal): Promise<AgentRecord> {
    const answer = await this.#request({ signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_MS)]) });
    const text = await answer.text();
    const body = text.length <= AGENT_RECORD_BODY_MAX_BYTES ? parseJson(text) : null;
    return {
      turn_id: textField(body, "turn_id"),
      workspace: textField(body, "workspace"),
      record: textField(body, "record"),
    };
  }

  async #send(record: AgentRecord): Promise<void> {
    const headers = { "Content-Type": "application/json" };
    const signal = AbortSignal.timeout(SEND_MS);
    const answer = await this.#request({ method: "PUT", headers, body: JSON.stringify(record), signal });
    await answer.body?.cancel();
  }

  async #request(init: RequestInit): Promise<Response> {
    const { apiUrl, projectId, token } = this.#context.settings;
    const answer = await fetch(`${apiUrl}/projects/${projectId}/git/agent-record`, {
      ...init,
      headers: { ...init.headers, Authorization: `Bearer ${token}`, Accept: "application/json" },
      redirect: "manual",
    }).catch(() => {
      throw new RecordError("svc's API cannot be reached.");
    });
    if (answer.ok) return answer;
    await answer.body?.cancel();
    throw new RecordError(`svc's API returned status ${answer.status}.`);
  }

  #report(what: "kept" | "restored", error: unknown): void {
    const why = error instanceof RecordError ? error.message : "something went wrong inside svc.";
    this.#context.log.info(`the agent's own record of the conversation was not ${what}: ${why}`);
  }
}

/** The message is the end of a sentence. */
class RecordError extends Error {
  override readonly name = "RecordError";
}
