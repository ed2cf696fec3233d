import { existsSync } from "node:fs";
import { CliError, usage } from "../../failure.ts";
import type { System } from "../../system.ts";
import { docker } from "./engine.ts";
import { type Env, readEnv, requireEnv, writeEnv } from "./env-file.ts";
import { freePort } from "./probe.ts";
import { CONTAINER_SETTINGS, checkAddress, checkSetting, firstSettings, portOf } from "./settings.ts";
import type { Stack } from "./stack.ts";
import { readState, type State, writeState } from "./state.ts";

/** Variables for proxies that a new server takes over from the environment of its first start. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"] as const;

export interface Wishes {
  native: boolean;
  /** `address`, `address:port` or `:port`. */
  listen: string | undefined;
  publicUrl: string | undefined;
}

/**
 * The state and settings of the stack, which are created on the first start, with what the flags change; `before`: the
 * settings of an earlier start.
 * @throws CliError `usage`, or `self_host` if settings or state of an earlier server are missing
 */
export async function prepare(
  system: Pick<System, "env" | "stderr" | "now">,
  stack: Stack,
  wishes: Wishes,
): Promise<{ state: State; env: Map<string, string>; before: Env | null }> {
  const existing = await readState(stack);
  // a start that failed before there was any data decides nothing
  const kept = existing !== null && wasStarted(stack, existing) ? existing : null;
  const state = kept ?? newState(system, wishes);
  if (wishes.native && state.mode !== "native") {
    throw new CliError("self_host", `The server in ${stack.dir} runs on Docker Compose; its data is there.`, {
      hint: "Start it without --native. For a second server, set SVC_SELF_HOST_DIR to another folder.",
    });
  }
  const changes = changesOf(wishes, state.mode);
  const before = kept === null ? null : await requireEnv(stack);
  const env = await completeEnv(system, stack, state);
  // of a start in containers that failed
  if (kept === null && state.mode === "native") for (const name of CONTAINER_SETTINGS) env.delete(name);
  for (const [name, value] of changes) env.set(name, value);
  await writeEnv(stack, env);
  if (kept === null) await writeState(stack, state);
  return { state, env, before };
}

const wasStarted = ({ data, composeFile }: Stack, { started_at }: State): boolean =>
  started_at !== null || existsSync(data) || existsSync(composeFile);

/** The settings that flags of `start` and `configure` change. @throws CliError `usage` */
export function changesOf(
  { listen, publicUrl }: Pick<Wishes, "listen" | "publicUrl">,
  mode: State["mode"],
): Map<string, string> {
  const changes = new Map<string, string>();
  if (publicUrl !== undefined) {
    if (!/^https?:\/\/[^/?#@\s]+$/.test(publicUrl.replace(/\/+$/, "")) || !URL.canParse(publicUrl)) {
      throw usage("--public-url must be a URL without a path, such as https://svc.example.com.");
    }
    changes.set("SVC_PUBLIC_URL", publicUrl.replace(/\/+$/, ""));
  }
  if (listen !== undefined) {
    const { address, port } = readListen(listen);
    if (address !== null) changes.set("SVC_HOST", address);
    if (port !== null) changes.set("SVC_PORT", `${port}`);
  }
  for (const [name, value] of changes) checkSetting(name, value, mode);
  return changes;
}

/** Reads `address`, `address:port`, `:port` or `[address]:port`. */
function readListen(text: string): { address: string | null; port: number | null } {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [
    undefined,
    undefined,
    text,
  ];
  const address = bracketed ?? plain ?? "";
  const port = digits === undefined ? null : portOf(digits);
  if (digits !== undefined && port === null) throw usage("--listen: the port must be from 1 to 65535.");
  if (address !== "") checkAddress(address, "--listen");
  return { address: address === "" ? null : address, port };
}

function newState(system: Pick<System, "now">, { native }: Wishes): State {
  return {
    mode: native ? "native" : "compose",
    service: null,
    created_at: new Date(system.now()).toISOString(),
    started_at: null,
    version: "",
    settings: null,
  };
}

/**
 * The stored settings, with those that a new server needs.
 * @throws CliError `self_host` if there is data whose secrets are missing
 */
async function completeEnv(
  system: Pick<System, "env" | "stderr">,
  stack: Stack,
  { mode }: State,
): Promise<Map<string, string>> {
  const stored = (await readEnv(stack)) ?? new Map<string, string>();
  const needed = mode === "compose" ? ["SVC_MASTER_KEY", "POSTGRES_PASSWORD"] : ["SVC_MASTER_KEY"];
  if (needed.every((name) => stored.has(name))) return stored;
  const data = await dataOf(system, stack, mode);
  if (data !== null) {
    throw new CliError(
      "self_host",
      `There is data of an earlier server (${data}), but ${stack.envFile} has no ${LIST.format(needed)} for it.`,
      {
        hint: "Restore that file from a backup, or remove the data if it is not needed.",
      },
    );
  }
  const settings = firstSettings(mode, mode === "compose" ? await freePort() : null);
  for (const name of PROXIES) {
    const value = system.env[name] ?? system.env[name.toLowerCase()];
    if (value) settings.set(name, value);
  }
  return new Map([...settings, ...stored]);
}

const LIST = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** Where data of an earlier server is; null if there is none. */
export async function dataOf(
  system: Pick<System, "env" | "stderr">,
  { data, project }: Stack,
  mode: State["mode"],
): Promise<string | null> {
  if (mode === "native") return existsSync(data) ? data : null;
  const volume = `${project}_db`;
  const { code } = await docker(system, ["volume", "inspect", volume]);
  return code === 0 ? `the Docker volume ${volume}` : null;
}
