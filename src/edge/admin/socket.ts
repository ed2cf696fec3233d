import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../../contract/errors.ts";
import { listenPrivately } from "../../data-folder.ts";
import type { AdminCommand } from "./command.ts";

/** A command is a few short fields. */
const COMMAND_MAX_BYTES = 16 * 1024;
const ANSWER_TIMEOUT_MS = 30_000;

interface Answer {
  line?: string;
  error?: string;
}

/**
 * Listens for operators' commands on a unix socket in the data folder.
 * @returns a function that closes the socket.
 */
export function listenForAdmin(dataDir: string, run: (command: AdminCommand) => Promise<string>): () => void {
  const path = socketPath(dataDir);
  const server = listenPrivately(path, () =>
    Bun.serve({
      unix: path,
      maxRequestBodySize: COMMAND_MAX_BYTES,
      async fetch(request) {
        return Response.json(await answer(await request.json().catch(() => null), run));
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
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  }).catch(() => null);
  if (!response) return null;
  const { line, error }: Answer = await response.json();
  if (line === undefined) throw new SvcError("validation_failed", error ?? "The server refused the command.");
  return line;
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
  if (typeof email !== "string") return null;
  if (verb === "token" && typeof name === "string") return { verb, email, name };
  if (verb === "link") return { verb, email };
  if (verb === "user" && typeof password === "string") return { verb, email, password };
  return null;
}

function socketPath(dataDir: string): string {
  return join(dataDir, "admin.sock");
}
