import { CliError, usage } from "../../failure.ts";
import type { System } from "../../system.ts";
import { docker } from "./engine.ts";
import { readEnv, requireEnv, writeEnv } from "./env-file.ts";
import { freePort } from "./probe.ts";
import { checkAddress, checkSetting, firstSettings, portOf } from "./settings.ts";
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
 * The state and settings of the stack, which are created on the first start, with what the flags change.
 * @throws CliError `usage`, or `self_host` if settings or state of an earlier server are missing
 */
export async function prepare(
  system: Pick<System, "env" | "stderr" | "now">,
  stack: Stack,
  wishes: Wishes,
): Promise<{ state: State; env: Map<string, string> }> {
  const existing = await readState(stack);
  const state = existing ?? newState(system, wishes);
  if (wishes.native && state.mode !== "native") {
    throw new CliError("self_host", `The server in ${stack.dir} runs on Docker Compose; its data is there.`, {
      hint: "Start it without --native. For a second server, set SVC_SELF_HOST_DIR to another folder.",
    });
  }
  const changes = changesOf(wishes, state.mode);
  const env = existing === null ? await firstEnv(system, stack, state) : await requireEnv(stack);
  for (const [name, value] of changes) env.set(name, value);
  if (existing === null || changes.size > 0) await writeEnv(stack, env);
  if (existing === null) await writeState(stack, state);
  return { state, env };
}

/** The settings that flags of `start` and `configure` change. @throws CliError `usage` */
export function changesOf(
  { listen, publicUrl }: Pick<Wishes, "listen" | "publicUrl">,
  mode: State["mode"],
): Map<string, string> {
  const changes = new Map<string, string>();
  if (publicUrl !== undefined) {
    if (!/^https?:\/\/[^/?#@\s]+$/.test(publicUrl.replace(/\/+$/, ""))) {
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

/** @throws CliError `self_host` if data without its settings is left of an earlier server */
async function firstEnv(
  system: Pick<System, "env" | "stderr">,
  stack: Stack,
  { mode }: State,
): Promise<Map<string, string>> {
  const left = await readEnv(stack);
  if (left !== null) return left;
  if (mode === "compose") {
    const { code } = await docker(system, ["volume", "inspect", `${stack.project}_db`]);
    if (code === 0) {
      throw new CliError(
        "self_host",
        `Docker has data of an earlier server (volumes ${stack.project}_db and ${stack.project}_data), but ${stack.dir} has no settings for it.`,
        {
          hint: "Restore the files env and state.json there from a backup. Or, if the data is not needed, remove the volumes with `docker volume rm`.",
        },
      );
    }
  }
  const settings = firstSettings(mode, mode === "compose" ? await freePort() : null);
  for (const name of PROXIES) {
    const value = system.env[name] ?? system.env[name.toLowerCase()];
    if (value) settings.set(name, value);
  }
  return settings;
}
