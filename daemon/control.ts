import { type Attachment, attachmentType, fileName } from "../src/contract/attachment.ts";
import type {
  AgentChoice,
  DaemonEnv,
  DaemonExec,
  DaemonHealth,
  DaemonPrompt,
  DaemonPromptBody,
  DaemonWorkspace,
  RuntimeChoices,
} from "../src/contract/daemon.ts";
import { isReservedName, SECRET_NAME } from "../src/contract/environment.ts";
import { SvcError } from "../src/contract/errors.ts";
import { isSize } from "../src/contract/exec-stream.ts";
import { UUID } from "../src/contract/id.ts";
import { arrayOf, field, numberField, textField } from "../src/contract/json.ts";
import { PROMPT_BODY_MAX_BYTES } from "../src/contract/limits.ts";
import type { ListeningPort } from "../src/contract/ports.ts";
import { isPermissionMode } from "../src/contract/runtimes.ts";
import type { UserContext } from "../src/contract/user-context.ts";
import type { Answer, Streamed } from "../src/splice/answer.ts";
import type { Decision } from "../src/splice/connection.ts";
import type { RequestHead } from "../src/splice/head.ts";
import { jsonError, jsonResponse } from "./responses.ts";

/** The requests of svc that the daemon carries out (spec 4.3). */
export interface Verbs {
  health(): Promise<DaemonHealth>;
  /** @throws SvcError refresh_in_progress, repo_unreachable, not_fast_forward, unavailable */
  refresh(): Promise<{ before: string | null; after: string | null }>;
  /** @throws SvcError nothing_to_abort, unavailable */
  abort(): Promise<void>;
  /** Replaces the secrets. @returns whether they have changed */
  setSecrets(secrets: DaemonEnv): Promise<boolean>;
  /** Changes what the agent works with from the next prompt on. */
  choose(choice: AgentChoice): Promise<void>;
  /** What there is to choose from. @throws SvcError unavailable */
  choices(): Promise<RuntimeChoices>;
  /** Sends a prompt once, and returns its state. @throws SvcError session_busy, unavailable */
  prompt(body: DaemonPromptBody): Promise<DaemonPrompt>;
  /** Where programs of the sandbox listen. */
  ports(): Promise<ListeningPort[]>;
  /** Starts a command of a person. @throws SvcError unavailable, too_many_commands */
  exec(command: DaemonExec): void;
  /** Reads the workspace. @param client aborts when the reader has gone. @throws SvcError unavailable */
  workspace(wanted: DaemonWorkspace, client: AbortSignal): Promise<Streamed>;
}

/** The routes below `/svc/`. */
export interface Control {
  health(head: RequestHead): Decision | Promise<Decision>;
  verb(head: RequestHead, path: string, context: UserContext): Decision;
}

/** Limits of a request without content, and of all secrets: several times the size of a process's environment. */
const EMPTY_MAX_BYTES = 64 * 1024;
const SECRETS_MAX_BYTES = 16 * 1024 * 1024;
/** More than the arguments of a program may be (execve(2)). */
const EXEC_MAX_BYTES = 4 * 1024 * 1024;

interface Handler {
  maxBytes: number;
  handle(body: Uint8Array, client: AbortSignal): Promise<Answer | Streamed>;
}

export function createControl(verbs: Verbs): Control {
  const handlers: Readonly<Record<string, Handler>> = {
    "/svc/refresh": {
      maxBytes: EMPTY_MAX_BYTES,
      handle: async () => jsonResponse(200, { ok: true, repo: await verbs.refresh() }),
    },
    "/svc/abort": {
      maxBytes: EMPTY_MAX_BYTES,
      handle: async () => {
        await verbs.abort();
        return jsonResponse(200, { ok: true });
      },
    },
    "/svc/env": {
      maxBytes: SECRETS_MAX_BYTES,
      handle: async (body) => {
        const secrets = readSecrets(body);
        const changed = await verbs.setSecrets(secrets);
        return jsonResponse(200, { ok: true, changed, revision: secrets.revision });
      },
    },
    "/svc/choice": {
      maxBytes: EMPTY_MAX_BYTES,
      handle: async (body) => {
        await verbs.choose(readChoice(parse(Buffer.from(body).toString())));
        return jsonResponse(200, { ok: true });
      },
    },
    "/svc/choices": {
      maxBytes: EMPTY_MAX_BYTES,
      handle: async () => jsonResponse(200, { ok: true, choices: await verbs.choices() }),
    },
    "/svc/prompt": {
      maxBytes: PROMPT_BODY_MAX_BYTES,
      handle: async (body) => jsonResponse(200, { ok: true, prompt: await verbs.prompt(readPrompt(body)) }),
    },
    "/svc/ports": {
      maxBytes: EMPTY_MAX_BYTES,
      handle: async () => jsonResponse(200, { ok: true, ports: await verbs.ports() }),
    },
    "/svc/exec": {
      maxBytes: EXEC_MAX_BYTES,
      handle: async (body) => {
        verbs.exec(readExec(parse(Buffer.from(body).toString())));
        return jsonResponse(200, { ok: true });
      },
    },
    "/svc/workspace": {
      maxBytes: EMPTY_MAX_BYTES,
      handle: async (body, client) =>
        await verbs.workspace(readWorkspace(parse(Buffer.from(body).toString())), client),
    },
  };

  return {
    async health(head) {
      if (head.method !== "GET" && head.method !== "HEAD") return { answer: wrongMethod("GET") };
      return { answer: jsonResponse(200, await verbs.health()) };
    },
    verb(head, path, { role }) {
      const handler = Object.hasOwn(handlers, path) ? handlers[path] : undefined;
      if (!handler) return { answer: jsonError("not_found", "The daemon has no such route.") };
      if (head.method !== "POST") return { answer: wrongMethod("POST") };
      if (role !== "platform")
        return { answer: jsonError("forbidden", "This route is reserved for svc itself.") };
      return {
        maxBytes: handler.maxBytes,
        handle: (body, client) => handler.handle(body, client).catch(failure),
      };
    },
  };
}

function wrongMethod(allowed: string): Answer {
  return jsonError("method_not_allowed", `This route accepts only ${allowed}.`, { Allow: allowed });
}

function failure(error: unknown): Answer {
  if (error instanceof SvcError) return jsonError(error.code, error.message, error.headers);
  return jsonError("internal", "Something went wrong inside svc.");
}

/** @throws SvcError invalid_json, validation_failed, reserved_name */
function readSecrets(body: Uint8Array): DaemonEnv {
  const value = parse(Buffer.from(body).toString());
  const [revision, env] = ["revision", "env"].map((name): unknown => Reflect.get(value, name));
  if (typeof revision !== "string" || revision.length > REVISION_MAX)
    throw new SvcError("validation_failed", "revision must be a string.");
  if (typeof env !== "object" || env === null || Array.isArray(env))
    throw new SvcError("validation_failed", "env must be an object that maps names to values.");
  return { revision, env: Object.fromEntries(Object.entries(env).map(readSecret)) };
}

const REVISION_MAX = 256;

function readSecret([name, value]: [string, unknown]): [string, string] {
  if (!SECRET_NAME.test(name))
    throw new SvcError("validation_failed", "env contains an invalid secret name.");
  if (isReservedName(name)) throw new SvcError("reserved_name", `${name} is reserved for svc or the system.`);
  if (typeof value !== "string" || value.includes("\0"))
    throw new SvcError("validation_failed", `The value of ${name} must be a string without NUL bytes.`);
  return [name, value];
}

/** @throws SvcError invalid_json, validation_failed */
function readPrompt(body: Uint8Array): DaemonPromptBody {
  const value = parse(Buffer.from(body).toString());
  const [id, text, wait] = ["prompt_id", "text", "wait"].map((name): unknown => Reflect.get(value, name));
  if (typeof id !== "string" || !UUID.test(id))
    throw new SvcError("validation_failed", "prompt_id must be a UUID.");
  if (typeof text !== "string" || text === "")
    throw new SvcError("validation_failed", "text must be a non-empty string.");
  if (wait !== undefined && typeof wait !== "boolean")
    throw new SvcError("validation_failed", "wait must be true or false.");
  const attachments = arrayOf(field(value, "attachments")).map(readAttachment);
  const chosen = field(value, "choice");
  return {
    prompt_id: id.toLowerCase(),
    text,
    attachments,
    ...(wait !== undefined && { wait }),
    ...(chosen !== undefined && { choice: readChoice(chosen) }),
  };
}

/** @throws SvcError validation_failed */
function readChoice(value: unknown): AgentChoice {
  const [model, agent, effort] = ["model", "agent", "effort"].map((name) => textField(value, name) || null);
  const mode = textField(value, "mode");
  if (!isPermissionMode(mode)) throw new SvcError("validation_failed", "mode must be a permission mode.");
  return { model: model ?? null, agent: agent ?? null, effort: effort ?? null, mode };
}

/** @throws SvcError validation_failed */
function readExec(value: object): DaemonExec {
  const [id, userId] = [textField(value, "exec_id"), textField(value, "user_id")];
  if (!UUID.test(id) || !UUID.test(userId))
    throw new SvcError("validation_failed", "exec_id and user_id must be UUIDs.");
  const command = arrayOf(field(value, "command")).map((each) => {
    if (typeof each === "string" && !each.includes("\0")) return each;
    throw new SvcError("validation_failed", "command must be a list of strings without NUL bytes.");
  });
  const terminal: unknown = field(value, "terminal");
  const [cols, rows] = ["cols", "rows"].map((name) => Number(field(terminal, name)));
  const isSized = isSize(cols) && isSize(rows);
  return { exec_id: id, user_id: userId, command, terminal: isSized ? { cols, rows } : null };
}

/** @throws SvcError validation_failed */
function readWorkspace(value: object): DaemonWorkspace {
  const [read, path] = [textField(value, "read"), textField(value, "path")];
  const branch = textField(value, "default_branch");
  const [from, to] = [numberField(value, "from") ?? 0, numberField(value, "to")];
  if (read === "folder") return { read, path };
  if (read === "file" && from >= 0 && (to === null || to >= from)) return { read, path, from, to };
  if (read === "changes") return { read, default_branch: branch };
  if (read === "patch") return { read, default_branch: branch, path: path === "" ? null : path };
  throw new SvcError("validation_failed", "read must be folder, file, changes or patch.");
}

/** svc has checked it, and its content again decides. @throws SvcError validation_failed */
function readAttachment(value: unknown): Attachment {
  const data = textField(value, "data");
  const type = attachmentType(Buffer.from(data, "base64"));
  if (type === null) throw new SvcError("validation_failed", "An attachment has an unknown type.");
  return { name: fileName(textField(value, "name")), type, data };
}

function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // reported below
  }
  throw new SvcError("invalid_json", "The body must be a JSON object.");
}
