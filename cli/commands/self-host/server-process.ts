import { readFile, rm } from "node:fs/promises";
import { isRecord } from "../../config.ts";
import { replace } from "../../config-write.ts";
import { isAlive, type Process } from "./process-identity.ts";
import type { Stack } from "./stack.ts";

/** The processes of a native server, as its supervisor records them. */
export interface ServerProcess {
  supervisor: Process;
  /** svc-api; null between two starts of it. */
  api: Process | null;
  /** When svc-api was started last, as ISO time. */
  since: string;
  /** How often svc-api has ended since the supervisor was started. */
  exits: number;
}

/** @returns null if none is recorded; the processes may have ended since */
export async function readServerProcess({ processFile }: Stack): Promise<ServerProcess | null> {
  const text = await readFile(processFile, "utf8").catch(() => "");
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return null;
    const supervisor = readProcess(value["supervisor"]);
    const { since, exits } = value;
    if (supervisor === null || typeof since !== "string" || typeof exits !== "number") return null;
    return { supervisor, api: readProcess(value["api"]), since, exits };
  } catch {
    return null;
  }
}

export const writeServerProcess = ({ processFile }: Stack, record: ServerProcess): Promise<void> =>
  replace(processFile, `${JSON.stringify(record)}\n`);

export const removeServerProcess = ({ processFile }: Stack): Promise<void> =>
  rm(processFile, { force: true });

/** The processes of the record that still run. */
export function aliveOf(record: ServerProcess | null): { supervisor: Process | null; api: Process | null } {
  const alive = (known: Process | null | undefined) => (known && isAlive(known) ? known : null);
  return { supervisor: alive(record?.supervisor), api: alive(record?.api) };
}

function readProcess(value: unknown): Process | null {
  if (!isRecord(value)) return null;
  const { pid, id } = value;
  return typeof pid === "number" && typeof id === "string" ? { pid, id } : null;
}
