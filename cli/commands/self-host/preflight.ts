import { count } from "../../text.ts";
import { TLS_SETTING } from "./caddy-file.ts";
import { COMPOSE_MISSING } from "./compose.ts";
import { type Engine, socketOf } from "./engine.ts";
import type { State } from "./state.ts";

/** What was found on this machine before a start. */
export interface Probes {
  mode: State["mode"];
  platform: NodeJS.Platform;
  /** Whether there is no server yet, so that the mode is still open. */
  isNew: boolean;
  /** Only for Compose. */
  engine: Engine;
  /** The command of Compose; null if there is none. Only for Compose. */
  compose: readonly string[] | null;
  hasGit: boolean;
  /** Whether sessions of a native server can run: bubblewrap, or the socket of a Docker engine. */
  hasSandboxes: boolean;
  ports: readonly { setting: string; address: string; port: number; problem: PortProblem | null }[];
  /** Free bytes of the disk for the data; null if unknown. */
  disk: number | null;
  /** Bytes of the machine's memory. */
  memory: number;
}

/** Why a program cannot listen on a port. */
export type PortProblem = "in use" | "not allowed" | "no such address";

export interface Finding {
  check: "engine" | "compose" | "git" | "sandboxes" | "port" | "disk" | "memory";
  /** An error prevents the start. */
  level: "error" | "warning";
  message: string;
  /** What to do about it. */
  hint: string;
}

const GB = 1e9;
/** Images and programs of a new server take about one and a half gigabytes on Docker, half of one without. */
const DISK_MIN: Record<State["mode"], number> = { compose: 3 * GB, native: GB };
const DISK_GOOD = 10 * GB;
/** Less is not enough for the server itself. */
const MEMORY_MIN = 0.5 * GB;
/** docs/operate.md: 2 GB for each sandbox. */
const MEMORY_GOOD = 3 * GB;
const NATIVE = " Or run `svc self-host start --native`, which needs no Docker.";

/** Judges the probes; empty if nothing was found. */
export function judge(probes: Probes): Finding[] {
  return [
    ...(probes.mode === "compose"
      ? [...judgeEngine(probes), ...judgeCompose(probes)]
      : [...judgeGit(probes), ...judgeSandboxes(probes)]),
    ...judgePorts(probes),
    ...judgeDisk(probes),
    ...judgeMemory(probes),
  ];
}

function judgeEngine({ engine, isNew }: Probes): Finding[] {
  const native = isNew ? NATIVE : "";
  const error = (message: string, hint: string): Finding[] => [
    { check: "engine", level: "error", message, hint },
  ];
  if (engine.state === "missing") {
    return error("Docker is not installed.", `Install it: https://docs.docker.com/engine/install.${native}`);
  }
  if (engine.state === "silent") {
    const reason = engine.reason === "" ? "" : `: ${engine.reason}`;
    const hint = /permission denied/i.test(engine.reason)
      ? "Use a user with access to the engine, such as a member of the group docker."
      : "Start it (on Linux: sudo systemctl start docker).";
    return error(`The Docker engine does not answer${reason}`, `${hint}${native}`);
  }
  if (socketOf(engine.endpoint) === null) {
    return error(
      `The Docker engine is not on this machine: ${engine.endpoint.replace(/\/\/[^/@]*@/, "//")}.`,
      "Run `svc self-host start` on the machine of the engine, or choose another one with DOCKER_HOST or `docker context use`.",
    );
  }
  if (engine.isRootless) {
    return error(
      "The Docker engine is rootless: a server in a container cannot reach the sandboxes of its sessions.",
      `Use an engine that runs as root.${native}`,
    );
  }
  if (!engine.isDesktop) return [];
  return [
    {
      check: "engine",
      level: "warning",
      message: "Docker Desktop was not tried with this command.",
      hint: "Its setting `Enable host networking` (Settings, Resources, Network) is required.",
    },
  ];
}

function judgeCompose({ engine, compose }: Probes): Finding[] {
  if (compose !== null || engine.state === "missing") return [];
  return [
    { check: "compose", level: "error", message: "Docker Compose is not installed.", hint: COMPOSE_MISSING },
  ];
}

function judgeGit({ hasGit }: Probes): Finding[] {
  if (hasGit) return [];
  const hint = "Install git (on Debian: apt install git).";
  return [{ check: "git", level: "error", message: "git is not installed.", hint }];
}

function judgeSandboxes({ hasSandboxes }: Probes): Finding[] {
  if (hasSandboxes) return [];
  const message = "Sessions cannot start: neither bubblewrap nor a Docker engine was found.";
  const hint = "Install bubblewrap (on Debian: apt install bubblewrap), then restart the server.";
  return [{ check: "sandboxes", level: "warning", message, hint }];
}

const PORT_HINT: Record<PortProblem, string> = {
  "in use": "Stop the program that uses it, or choose another port",
  "not allowed": "Choose a port of at least 1024",
  "no such address": "Choose an address of this machine",
};

function judgePorts({ mode, engine, ports }: Probes): Finding[] {
  // without its engine, a server that runs already is not recognized
  if (mode === "compose" && engine.state !== "ready") return [];
  return ports.flatMap(({ setting, address, port, problem }): Finding[] => {
    // the engine may use any port of an address of this machine
    if (problem === null || (setting === TLS_SETTING && problem !== "in use")) return [];
    const at = `${address.includes(":") ? `[${address}]` : address}:${port}`;
    const message = `svc cannot listen on ${at} (${setting}): ${problem}.`;
    const hint =
      setting === TLS_SETTING
        ? "Stop the program that uses it (`ss -ltnp` shows it): Caddy needs the port."
        : `${PORT_HINT[problem]}: svc self-host start --listen <address:port>`;
    return [{ check: "port", level: "error", message, hint }];
  });
}

function judgeDisk({ mode, disk }: Probes): Finding[] {
  if (disk === null || disk >= DISK_GOOD) return [];
  const level = disk < DISK_MIN[mode] ? "error" : "warning";
  const message = `The disk has ${gigabytes(disk)} free; svc needs ${gigabytes(DISK_MIN[mode])}, and more for repositories and sandboxes.`;
  const hint =
    mode === "compose"
      ? "Free some space (`docker system df` shows what the engine uses)."
      : "Free some space, or set SVC_SELF_HOST_DIR to a folder on another disk.";
  return [{ check: "disk", level, message, hint }];
}

function judgeMemory({ memory }: Probes): Finding[] {
  if (memory >= MEMORY_GOOD) return [];
  const level = memory < MEMORY_MIN ? "error" : "warning";
  const message = `The machine has ${gigabytes(memory)} of memory: too little for a session, which may use 2 GB.`;
  return [{ check: "memory", level, message, hint: "Use a machine with at least 4 GB." }];
}

const gigabytes = (bytes: number): string => `${(bytes / GB).toFixed(1)} GB`;

/** One line for all errors, and one for each with its hint. */
export function summaryOf(errors: readonly Finding[]): { message: string; hint: string | undefined } {
  const [only] = errors;
  if (errors.length === 1 && only) return { message: only.message, hint: only.hint };
  const list = errors.map(({ message, hint }) => `\n  - ${message} ${hint}`).join("");
  return { message: `This machine has ${count(errors.length, "problem")}:${list}`, hint: undefined };
}
