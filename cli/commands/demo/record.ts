import { mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseJson, textField } from "../../../src/contract/json.ts";
import { configPath } from "../../config.ts";
import { replace } from "../../config-write.ts";
import { CliError, systemCode } from "../../failure.ts";
import type { System } from "../../system.ts";
import type { Target } from "../../target.ts";

/**
 * What identifies the demo on a host. It is written before the project and the session are created, so that they are found
 * again if svc is killed before the response arrives: the name contains random digits, and the client chooses the id of
 * the session. Nothing else is ever taken for the demo.
 */
export interface DemoRecord {
  /** The name of the project. */
  name: string;
  /** Null until the server has answered. */
  project_id: string | null;
  session_id: string;
}

const NAME = /^Demo [0-9a-f]{12}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The files of the demo on this machine: its record, and a folder for the sample project while it is pushed. */
export function demoPaths(system: System, { name }: Pick<Target, "name">): { file: string; staging: string } {
  const base = join(dirname(configPath(system)), `demo-${name}`);
  return { file: `${base}.json`, staging: `${base}.tmp` };
}

/**
 * The record of the demo on a host; null if there is none.
 * @throws CliError `file`, naming it
 */
export async function readRecord(file: string): Promise<DemoRecord | null> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return null;
    throw cannot("read", file, error);
  });
  if (text === null) return null;
  const value = parseJson(text);
  const [name, project, session] = ["name", "project_id", "session_id"].map((key) => textField(value, key));
  if (name && NAME.test(name) && session && UUID.test(session) && (!project || UUID.test(project))) {
    return { name, project_id: project || null, session_id: session };
  }
  throw new CliError(
    "file",
    `${file} is not a record of a demo, so svc cannot tell which project is the demo.`,
    {
      hint: "Remove that file. A project that it belonged to stays: `svc projects ls` lists it as Demo.",
    },
  );
}

/**
 * Starts a record.
 * @throws CliError `file`; also if another svc has started one at the same moment
 */
export async function newRecord(file: string): Promise<DemoRecord> {
  const record = newDemo();
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const created = await open(file, "wx", 0o600);
    await created.writeFile(textOf(record)).finally(() => created.close());
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw cannot("written", file, error);
    throw new CliError("file", "Another svc demo has just started on this host.", {
      hint: "Let it finish, then run `svc demo` again.",
    });
  }
  return record;
}

/** What identifies a demo that has no project yet. */
export function newDemo(): DemoRecord {
  const digits = crypto.getRandomValues(new Uint8Array(6)).toHex();
  return { name: `Demo ${digits}`, project_id: null, session_id: crypto.randomUUID() };
}

/** @throws CliError `file` */
export async function writeRecord(file: string, record: DemoRecord): Promise<void> {
  await replace(file, textOf(record)).catch((error: unknown) => {
    throw cannot("written", file, error);
  });
}

export async function removeRecord({ file, staging }: ReturnType<typeof demoPaths>): Promise<void> {
  await rm(staging, { recursive: true, force: true });
  await rm(file, { force: true });
}

const textOf = (record: DemoRecord): string => `${JSON.stringify(record, null, 2)}\n`;

const cannot = (what: string, file: string, error: unknown): CliError =>
  new CliError(
    "file",
    `The record of the demo cannot be ${what}: ${file} (${systemCode(error) ?? "unknown error"}).`,
  );
