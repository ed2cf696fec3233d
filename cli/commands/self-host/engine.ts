import { isRecord } from "../../config.ts";
import { CliError } from "../../failure.ts";
import type { System } from "../../system.ts";
import { type Ended, type RunOptions, runProgram } from "./run-program.ts";

/** The Docker engine, as `docker` describes it. */
export type Engine =
  | { state: "missing" }
  | { state: "silent"; reason: string }
  | {
      state: "ready";
      version: string;
      /** `unix:///…`, `tcp://…`. */
      endpoint: string;
      isDesktop: boolean;
      isRootless: boolean;
      /** The folder of its images and volumes, on its machine. */
      folder: string;
    };

type Shell = Pick<System, "env" | "stderr">;

const PROBE_MS = 20_000;
/** A base image is a few hundred megabytes at most. */
const PULL_MS = 20 * 60_000;

/** Runs the `docker` command. */
export const docker = (system: Shell, args: readonly string[], options?: RunOptions): Promise<Ended> =>
  runProgram(system, ["docker", ...args], options);

export async function findEngine(system: Shell): Promise<Engine> {
  const info = await docker(system, ["info", "--format", "{{json .}}"], { ms: PROBE_MS });
  if (info.code === 127) return { state: "missing" };
  const found = parse(info.out);
  const version = found["ServerVersion"];
  if (info.code !== 0 || typeof version !== "string" || version === "") {
    const errors = found["ServerErrors"];
    const reason = info.err.trim() || (Array.isArray(errors) ? errors.join(" ") : "");
    return { state: "silent", reason: reason.split("\n").at(-1) ?? "" };
  }
  const security = found["SecurityOptions"];
  return {
    state: "ready",
    version,
    endpoint: await endpointOf(system),
    isDesktop: found["OperatingSystem"] === "Docker Desktop",
    isRootless: Array.isArray(security) && security.some((option) => `${option}`.includes("rootless")),
    folder: typeof found["DockerRootDir"] === "string" ? found["DockerRootDir"] : "",
  };
}

/** The path of the engine's socket; null if the engine is reached in another way. */
export const socketOf = (endpoint: string): string | null => /^unix:\/\/(\/.+)$/.exec(endpoint)?.[1] ?? null;

/**
 * Pulls an image unless the engine has it.
 * @param variable the setting that names another image
 * @throws CliError `self_host` with what to do
 */
export async function requireImage(system: Shell, image: string, variable: string): Promise<void> {
  if ((await docker(system, ["image", "inspect", "--format", "{{.Id}}", image])).code === 0) return;
  const { code, err } = await docker(system, ["pull", image], { ms: PULL_MS });
  if (code === 0) return;
  throw new CliError("self_host", `Docker cannot pull the image ${image}: ${lastLine(err)}`, {
    hint: `Check the engine's connection to its registry, then run \`svc self-host start\` again. To use an image that the engine has, set ${variable} to its name.`,
  });
}

async function endpointOf(system: Shell): Promise<string> {
  const chosen = system.env["DOCKER_HOST"];
  if (chosen) return chosen;
  const format = "{{.Endpoints.docker.Host}}";
  const { code, out } = await docker(system, ["context", "inspect", "--format", format], { ms: PROBE_MS });
  return (code === 0 && out.trim()) || "unix:///var/run/docker.sock";
}

function parse(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

export const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim() ?? "";
