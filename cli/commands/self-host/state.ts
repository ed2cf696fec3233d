import { mkdir, readFile } from "node:fs/promises";
import { isRecord } from "../../config.ts";
import { replace } from "../../config-write.ts";
import { CliError, systemCode } from "../../failure.ts";
import type { Stack } from "./stack.ts";

const MODES = ["compose", "native"] as const;
const SERVICES = ["compose", "systemd", "launchd", "process"] as const;

/** What `self-host start` has set up. It does not say whether the server runs: see `look`. */
export interface State {
  mode: (typeof MODES)[number];
  /** What keeps a started server running; null after `stop`. */
  service: (typeof SERVICES)[number] | null;
  created_at: string;
  /** The last start; null if there was none. */
  started_at: string | null;
  /** The version of the programs in `bin`. */
  version: string;
  /** A hash of the settings that the server was started with; null if it was not started. */
  settings: string | null;
}

/** @returns null if nothing has been set up. @throws CliError `file` for a damaged file. */
export async function readState({ stateFile }: Stack): Promise<State | null> {
  const text = await readFile(stateFile, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return null;
    throw new CliError("file", `Cannot read ${stateFile} (${systemCode(error) ?? "unknown error"}).`, {
      hint: "Run svc as the owner of that folder, or set SVC_SELF_HOST_DIR to another one.",
    });
  });
  if (text === null) return null;
  const state = parse(text);
  if (state !== null) return state;
  throw new CliError("file", `The file ${stateFile} is damaged.`, {
    hint: 'Restore it from a backup, or write {"mode": "native"} or {"mode": "compose"} to it: the way that the server runs.',
  });
}

/** @throws CliError `self_host` if nothing has been set up. */
export async function requireState(stack: Stack): Promise<State> {
  const state = await readState(stack);
  if (state !== null) return state;
  throw new CliError("self_host", `There is no self-hosted server in ${stack.dir}.`, {
    hint: "Run `svc self-host start`, or `svc self-host start --native` without Docker.",
  });
}

export async function writeState(stack: Stack, state: State): Promise<void> {
  await makeFolder(stack);
  await replace(stack.stateFile, `${JSON.stringify(state, null, 2)}\n`);
}

/** Creates the stack's folder, which only its owner can read. */
export async function makeFolder({ dir }: Stack): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new CliError("file", `Cannot create ${dir} (${systemCode(error) ?? "unknown error"}).`, {
      hint: "Set SVC_SELF_HOST_DIR to a folder that you can write to.",
    });
  });
}

function parse(text: string): State | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  const mode = MODES.find((known) => known === value["mode"]);
  if (mode === undefined) return null;
  const textOf = (name: string): string | null => {
    const field = value[name];
    return typeof field === "string" ? field : null;
  };
  return {
    mode,
    service: SERVICES.find((known) => known === value["service"]) ?? null,
    created_at: textOf("created_at") ?? new Date(0).toISOString(),
    started_at: textOf("started_at"),
    version: textOf("version") ?? "",
    settings: textOf("settings"),
  };
}
