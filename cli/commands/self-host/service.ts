import { spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { withoutRuntime } from "../../browser.ts";
import { replace } from "../../config-write.ts";
import { CliError } from "../../failure.ts";
import type { System } from "../../system.ts";
import { lastLine } from "./engine.ts";
import { runProgram } from "./run-program.ts";
import { renderPlist, renderUnit } from "./service-files.ts";
import type { Stack } from "./stack.ts";
import type { State } from "./state.ts";

type Service = Exclude<State["service"], "compose" | null>;
type Host = Pick<System, "env" | "stderr" | "self">;

const MANAGER_MS = 20_000;

/** The service manager of this user: systemd or launchd if one answers, else a process of its own. */
export async function chooseService(system: Host): Promise<Service> {
  if (process.platform === "darwin") return "launchd";
  if (process.platform !== "linux") return "process";
  const { code } = await systemctl(system, ["show-environment"]);
  return code === 0 ? "systemd" : "process";
}

/** Starts the supervisor, which runs on after this command. */
export async function startService(system: Host, stack: Stack, service: Service): Promise<void> {
  const command = supervisorCommand(system, stack);
  if (service === "process") return startProcess(system, stack, command);
  const file = serviceFile(system, stack, service);
  // a service manager has a shorter PATH, on which git may be missing
  const path = system.env["PATH"] ?? "";
  await mkdir(dirname(file), { recursive: true });
  if (service === "systemd") {
    await replace(file, renderUnit(command, stack, path));
    await must(systemctl(system, ["daemon-reload"]));
    return must(systemctl(system, ["enable", "--now", unitOf(stack)]));
  }
  await replace(file, renderPlist(command, stack, labelOf(stack), path));
  await must(runProgram(system, ["launchctl", "bootstrap", domain(), file], { ms: MANAGER_MS }));
}

/** Tells the service manager to stop the server and not to start it again. A process is stopped by its signal. */
export async function stopService(system: Host, stack: Stack, service: Service): Promise<void> {
  if (service === "process") return;
  const file = serviceFile(system, stack, service);
  // somebody has removed the service: its processes are stopped by their signals
  if (!existsSync(file)) return;
  if (service === "systemd") {
    await must(systemctl(system, ["disable", "--now", unitOf(stack)]));
    await rm(file, { force: true });
    return must(systemctl(system, ["daemon-reload"]));
  }
  await must(
    runProgram(system, ["launchctl", "bootout", `${domain()}/${labelOf(stack)}`], { ms: MANAGER_MS }),
  );
  await rm(file, { force: true });
}

/** The copy of this svc that the stack keeps, so that an update of svc does not affect the server; from source, the source. */
function supervisorCommand({ self }: Host, { bin }: Stack): string[] {
  const program = self.length === 1 ? [join(bin, "svc")] : self;
  return [...program, "self-host", "supervise"];
}

/** In its own session: signals of the terminal do not reach it. */
function startProcess({ env }: Host, stack: Stack, [program = "", ...args]: string[]): void {
  mkdirSync(stack.dir, { recursive: true, mode: 0o700 });
  const log = openSync(stack.log, "a", 0o600);
  const child = spawn(program, args, {
    cwd: stack.dir,
    env: { ...withoutRuntime(env), SVC_SELF_HOST_DIR: stack.dir },
    detached: true,
    stdio: ["ignore", log, log],
  });
  child.unref();
}

const systemctl = (system: Host, args: readonly string[]) =>
  runProgram(system, ["systemctl", "--user", ...args], { ms: MANAGER_MS + STOP_MS });
/** `disable --now` waits until the server has ended. */
const STOP_MS = 45_000;

async function must(running: ReturnType<typeof runProgram>): Promise<void> {
  const { code, err } = await running;
  if (code === 0) return;
  throw new CliError("self_host", `The service manager refused: ${lastLine(err) || `exit status ${code}`}`, {
    hint: "Repair it, or run `svc self-host start --native --no-service`, which needs none.",
  });
}

function serviceFile({ env }: Host, stack: Stack, service: "systemd" | "launchd"): string {
  const home = env["HOME"] || homedir();
  if (service === "launchd") return join(home, "Library/LaunchAgents", `${labelOf(stack)}.plist`);
  return join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "systemd/user", unitOf(stack));
}

const unitOf = ({ project }: Stack): string => `${project}.service`;
const labelOf = ({ project }: Stack): string => `svc.${project}`;
const domain = (): string => `gui/${process.getuid?.() ?? 0}`;
