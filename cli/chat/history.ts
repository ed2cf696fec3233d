import { chmod, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { System } from "../system.ts";

/** Earlier prompts, the newest last: one JSON string per line. */
const ENTRIES_MAX = 1000;
/** Limits of one entry and of the file. */
const ENTRY_MAX = 20_000;
const FILE_MAX_BYTES = 4 * 1024 * 1024;

/** By the XDG base directory specification, which ignores relative paths. */
export function historyPath({ env }: Pick<System, "env">): string {
  const named = env["XDG_STATE_HOME"] ?? "";
  const state = isAbsolute(named) ? named : join(env["HOME"] || homedir(), ".local/state");
  return join(state, "svc/chat-history");
}

/** Empty if the file does not exist or cannot be read. */
export async function readHistory(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").flatMap(entryOf).slice(-ENTRIES_MAX);
}

function entryOf(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === "string" && entry !== "" ? [entry] : [];
  } catch {
    return [];
  }
}

/**
 * Appends a prompt, after those that other chats appended meanwhile. Only the owner can read the file.
 * @throws the file system's error
 */
export async function addToHistory(path: string, entry: string): Promise<void> {
  if (entry.length > ENTRY_MAX) return;
  const all = await readHistory(path);
  if (all.at(-1) === entry) return;
  let lines = [...all, entry].slice(-ENTRIES_MAX).map((each) => `${JSON.stringify(each)}\n`);
  while (Buffer.byteLength(lines.join("")) > FILE_MAX_BYTES)
    lines = lines.slice(Math.ceil(lines.length / 10));
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.${crypto.randomUUID()}`;
  try {
    const file = await open(draft, "wx", 0o600);
    await file.writeFile(lines.join(""));
    await file.close();
    await chmod(draft, 0o600);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
