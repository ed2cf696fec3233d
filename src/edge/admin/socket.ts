import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../../contract/errors.ts";
import { listenPrivately } from "../../data-folder.ts";
import { streamOf } from "../../http/stream.ts";
import type { AdminCommand } from "./command.ts";

/** A command is a few short fields. */
const COMMAND_MAX_BYTES = 16 * 1024;
const ANSWER_TIMEOUT_MS = 30_000;
/** Some millions of entries. */
const VERIFY_TIMEOUT_MS = 15 * 60_000;

/** The path of the request for a backup. */
const BACKUP_PATH = "/backup";
const TAR = "application/x-tar";

interface Answer {
  line?: string;
  error?: string;
}

export interface AdminHandlers {
  run(command: AdminCommand): Promise<string>;
  /** Produces a backup; with the master key or without. */
  backUp(withKey: boolean): AsyncGenerator<Uint8Array>;
  /** A backup that was begun has failed. */
  onFailure(error: unknown): void;
}

/**
 * Listens for operators' commands on a unix socket in the data folder.
 * @returns a function that closes the socket.
 */
export function listenForAdmin(dataDir: string, handlers: AdminHandlers): () => void {
  const path = socketPath(dataDir);
  let isBackingUp = false;
  const backUp = (withKey: boolean): Response => {
    if (isBackingUp) return Response.json({ error: "Another backup is running. Wait for its end." });
    isBackingUp = true;
    const body = streamOf(async (onBytes) => {
      try {
        for await (const piece of handlers.backUp(withKey)) if (!(await onBytes(piece))) return;
      } catch (error) {
        handlers.onFailure(error);
        throw error;
      } finally {
        isBackingUp = false;
      }
    });
    return new Response(body, { headers: { "Content-Type": TAR } });
  };
  // Bun supports `idleTimeout` for unix sockets, but its types do not allow it
  const address: object = { unix: path };
  const server = listenPrivately(path, () =>
    Bun.serve({
      ...address,
      // none: a backup sends nothing while the rows are copied, and waits for a slow reader
      idleTimeout: 0,
      maxRequestBodySize: COMMAND_MAX_BYTES,
      async fetch(request) {
        const body: unknown = await request.json().catch(() => null);
        if (new URL(request.url).pathname !== BACKUP_PATH)
          return Response.json(await answer(body, handlers.run));
        return backUp(Reflect.get(Object(body), "with_key") === true);
      },
    }),
  );
  return () => {
    void server.stop(true);
    rmSync(path, { force: true });
  };
}

/**
 * Sends a command to the running server.
 * @returns its line; null when no server is running on this data folder.
 * @throws SvcError with the server's error message.
 */
export async function sendAdminCommand(dataDir: string, command: AdminCommand): Promise<string | null> {
  const path = socketPath(dataDir);
  if (!existsSync(path)) return null;
  const response = await fetch("http://localhost/", {
    unix: path,
    method: "POST",
    body: JSON.stringify(command),
    timeout: false,
    signal: AbortSignal.timeout(command.verb === "verify-audit" ? VERIFY_TIMEOUT_MS : ANSWER_TIMEOUT_MS),
  }).catch(() => null);
  if (!response) return null;
  const { line, error }: Answer = await response.json();
  if (line === undefined) throw new SvcError("validation_failed", error ?? "The server refused the command.");
  return line;
}

/**
 * Requests a backup of the running server.
 * @returns the archive; null when no server is running on this data folder
 * @throws SvcError with the server's error message
 */
export async function requestBackup(
  dataDir: string,
  withKey: boolean,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array> | null> {
  const path = socketPath(dataDir);
  if (!existsSync(path)) return null;
  const response = await fetch(`http://localhost${BACKUP_PATH}`, {
    unix: path,
    method: "POST",
    body: JSON.stringify({ with_key: withKey }),
    timeout: false,
    signal,
  }).catch(() => null);
  if (!response) {
    signal.throwIfAborted();
    return null;
  }
  if (response.headers.get("Content-Type") === TAR && response.body) return response.body;
  const { error }: Answer = await response.json();
  throw new SvcError("validation_failed", error ?? "The server refused the backup.");
}

async function answer(body: unknown, run: (command: AdminCommand) => Promise<string>): Promise<Answer> {
  const command = toCommand(body);
  if (!command)
    return { error: "The server does not support this command. Use the svc-api of the server's version." };
  try {
    return { line: await run(command) };
  } catch (error) {
    if (error instanceof SvcError) return { error: error.message };
    return { error: "The command failed. See the server's log." };
  }
}

function toCommand(body: unknown): AdminCommand | null {
  const field = (name: string): unknown => Reflect.get(Object(body), name);
  const [verb, email, name, password] = [field("verb"), field("email"), field("name"), field("password")];
  if (verb === "verify-audit") return { verb };
  if (typeof email !== "string") return null;
  if (verb === "token" && typeof name === "string") return { verb, email, name };
  if (verb === "link") return { verb, email };
  const revoke = field("revoke");
  if (verb === "operator" && typeof revoke === "boolean") return { verb, email, revoke };
  if (verb === "user" && typeof password === "string") return { verb, email, password };
  return null;
}

function socketPath(dataDir: string): string {
  return join(dataDir, "admin.sock");
}
