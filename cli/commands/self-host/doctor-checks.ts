import { access, constants, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { compareVersions, isVersion } from "../../../src/contract/release.ts";
import { VERSION } from "../../../src/contract/version.ts";
import { type CliError, systemCode } from "../../failure.ts";
import type { System } from "../../system.ts";
import { ago } from "../../table-print.ts";
import { runApi } from "./api-program.ts";
import { type Env, hashOf } from "./env-file.ts";
import { logsOf } from "./logs-of.ts";
import { askVersion, isRunning, type ServiceStatus } from "./look.ts";
import { judge, type Probes } from "./preflight.ts";
import { PROGRAMS } from "./programs.ts";
import type { Stack } from "./stack.ts";
import type { State } from "./state.ts";

export interface Outcome {
  state: "ok" | "warning" | "failed";
  message: string;
  /** What to do; null if nothing is. */
  hint: string | null;
}

export interface Finding extends Outcome {
  check: string;
  /** The page, and the section in it, that has more. */
  doc: string;
}

export interface Machine {
  system: Pick<System, "env" | "stderr" | "fetch" | "now">;
  stack: Stack;
  state: State;
  env: Env | null;
  services: readonly ServiceStatus[];
  /** Why nothing is known about the services: their engine does not answer. Otherwise null. */
  silent: CliError | null;
  probes: Probes;
}

interface Check {
  check: string;
  doc: string;
  run(machine: Machine): Promise<Outcome>;
}

const HEALTH_MS = 10_000;
const RUNTIME_MS = 30_000;
/** Of a line of a log. */
const REASON_MAX = 300;
const DAY_MS = 86_400_000;
/** A backup of last week loses a week of work. */
const BACKUP_OLD_MS = 7 * DAY_MS;

const ok = (message: string): Outcome => ({ state: "ok", message, hint: null });
const warning = (message: string, hint: string): Outcome => ({ state: "warning", message, hint });
const failed = (message: string, hint: string): Outcome => ({ state: "failed", message, hint });

/** Every check, in the order in which a person would look. */
export const CHECKS: readonly Check[] = [
  { check: "settings", doc: "doctor.md#settings", run: checkSettings },
  { check: "programs", doc: "doctor.md#programs", run: checkPrograms },
  { check: "machine", doc: "doctor.md#machine", run: checkMachine },
  { check: "services", doc: "doctor.md#services", run: checkServices },
  { check: "answer", doc: "doctor.md#answer", run: checkAnswer },
  { check: "version", doc: "doctor.md#version", run: checkVersion },
  { check: "public-url", doc: "doctor.md#public-url", run: checkPublicUrl },
  { check: "runtime", doc: "doctor.md#runtime", run: checkRuntime },
  { check: "data", doc: "doctor.md#data", run: checkData },
  { check: "backup", doc: "doctor.md#backup", run: checkBackup },
];

async function checkSettings({ env, stack, state, services }: Machine): Promise<Outcome> {
  if (env === null) {
    return failed(
      `The settings are missing: ${stack.envFile}.`,
      "Restore the file from a backup: it has the master key.",
    );
  }
  if (!env.get("SVC_MASTER_KEY")) {
    return failed("SVC_MASTER_KEY is missing.", `Add the key from a backup to ${stack.envFile}.`);
  }
  const mode = (await stat(stack.envFile)).mode & 0o077;
  if (mode !== 0) return failed("Other users can read the settings.", `Run: chmod 600 ${stack.envFile}`);
  if (isRunning(services) && state.settings !== hashOf(env)) {
    return warning(
      "Settings have changed since the start.",
      "Run: svc self-host stop && svc self-host start",
    );
  }
  return ok(`${env.size} settings`);
}

async function checkPrograms({ stack, state }: Machine): Promise<Outcome> {
  const missing: string[] = [];
  for (const name of PROGRAMS) {
    const isThere = await access(join(stack.bin, name), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!isThere) missing.push(name);
  }
  if (missing.length === 0) return ok(`${PROGRAMS.join(", ")} (${state.version || "unknown version"})`);
  const message = `Missing in ${stack.bin}: ${missing.join(", ")}.`;
  const hint = "Run: svc self-host update --force";
  return missing.includes("svc-api")
    ? failed(message, hint)
    : warning(`${message} Sessions cannot start.`, hint);
}

async function checkMachine({ probes, services }: Machine): Promise<Outcome> {
  // the server itself uses its ports
  const found = judge(probes).filter(({ check }) => check !== "port" || !isRunning(services));
  const [worst] = found.toSorted((a, b) => a.level.localeCompare(b.level));
  if (worst === undefined) return ok("disk, memory and programs suffice");
  const message = found.map((finding) => finding.message).join(" ");
  return worst.level === "error" ? failed(message, worst.hint) : warning(message, worst.hint);
}

async function checkServices(machine: Machine): Promise<Outcome> {
  const { services, silent } = machine;
  if (silent) return failed(silent.message, silent.extra.hint ?? "Run: svc self-host status");
  const down = services.filter(({ state }) => state !== "running");
  if (down.length > 0) {
    const hint = down.some(({ state }) => state === "stopped")
      ? "Run: svc self-host start"
      : `Run: svc self-host logs ${down[0]?.name}`;
    const sentences = await Promise.all(down.map((service) => describe(machine, service)));
    return failed(sentences.join(", "), hint);
  }
  const restarted = services.find(({ restarts }) => restarts > 0);
  if (restarted) {
    const message = `${restarted.name} ended and was restarted (${restarted.restarts})`;
    return warning(message, `Run: svc self-host logs ${restarted.name}`);
  }
  return ok(services.map(({ name }) => name).join(", "));
}

/** With the last line of its container's log, in which the reason is. A service that was stopped has none. */
async function describe({ system, stack, state }: Machine, service: ServiceStatus): Promise<string> {
  const lines = state.mode === "compose" ? await logsOf(system, stack, state, service.name, 1) : [];
  const reason = lines.at(-1)?.slice(0, REASON_MAX) ?? "";
  return `${service.name} is ${service.state}${reason === "" ? "" : ` (${reason})`}`;
}

async function checkAnswer({ system, env }: Machine): Promise<Outcome> {
  const version = env === null ? null : await askVersion(system, env);
  if (version !== null) return ok(`svc ${version}`);
  return failed(
    "The server does not answer on this machine.",
    "Run: svc self-host status, then: svc self-host logs",
  );
}

async function checkVersion({ system, env, state }: Machine): Promise<Outcome> {
  const running = (env === null ? null : await askVersion(system, env)) ?? state.version;
  if (running === VERSION) return ok(`the server and svc are ${VERSION}`);
  const isNewer = isVersion(running) && compareVersions(running, VERSION) > 0;
  return warning(
    `The server is ${running || "unknown"}, this svc is ${VERSION}.`,
    isNewer ? "Run: svc update" : "Run: svc self-host update",
  );
}

async function checkPublicUrl({ system, env }: Machine): Promise<Outcome> {
  const url = env?.get("SVC_PUBLIC_URL");
  if (!url) return ok("none: only this machine reaches the server");
  const hint = "See docs/tls.md: name in DNS, ports 80 and 443, and the proxy's log.";
  try {
    const signal = AbortSignal.timeout(HEALTH_MS);
    const response = await system.fetch(`${url}/v1/health`, { signal, redirect: "error" });
    if (!response.ok) return failed(`${url} answers with status ${response.status}.`, hint);
  } catch (error) {
    return failed(`${url} cannot be reached from here (${systemCode(error) ?? "no answer"}).`, hint);
  }
  if (url.startsWith("http:") && !/^http:\/\/(?:localhost|127\.|\[::1\])/.test(url)) {
    return warning(`${url} has no TLS: tokens and cookies can be read on the way.`, "See docs/tls.md.");
  }
  return ok(`${url} answers`);
}

async function checkRuntime({ system, stack, state, services }: Machine): Promise<Outcome> {
  if (state.mode === "compose" && !isRunning(services))
    return warning("Not checked: the server is stopped.", "Run: svc self-host start");
  const { code, out } = await runApi(system, stack, state, ["runtime", "status"], { ms: RUNTIME_MS });
  if (code === 0) return ok(out.split("\n")[0] ?? "installed");
  return warning(
    "The agent runtime is not installed: sessions cannot start.",
    "Run: svc self-host start --install-runtime",
  );
}

async function checkData({ stack, state }: Machine): Promise<Outcome> {
  if (state.mode === "compose") return ok("in volumes of Docker");
  const folder = await stat(stack.data).catch(() => null);
  if (folder === null) return warning("There is no data yet.", "Run: svc self-host start");
  if ((folder.mode & 0o077) !== 0)
    return failed("Other users can read the data.", `Run: chmod 700 ${stack.data}`);
  const names = await readdir(stack.data);
  if (names.includes("restore-unfinished")) {
    return failed("A restore did not finish.", "Run the same svc self-host restore again.");
  }
  return ok(stack.data);
}

async function checkBackup({ system, stack }: Machine): Promise<Outcome> {
  const names = (await readdir(stack.backups).catch(() => [])).filter((name) => name.endsWith(".tar"));
  const times = await Promise.all(names.map(async (name) => (await stat(join(stack.backups, name))).mtimeMs));
  const newest = Math.max(...times, 0);
  const hint = "Run: svc self-host backup";
  if (newest === 0) return warning(`There is no backup in ${stack.backups}.`, hint);
  const age = ago(new Date(newest).toISOString(), system.now());
  return system.now() - newest > BACKUP_OLD_MS
    ? warning(`The newest backup is of ${age}.`, hint)
    : ok(`the newest is of ${age}`);
}
