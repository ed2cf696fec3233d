import { join } from "node:path";
import { CliError, systemCode } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/self-host.ts";
import { requireEnv } from "./env-file.ts";
import { processOf } from "./process-identity.ts";
import { serverEnvironment } from "./server-environment.ts";
import { openLog, STARTS, SUPERVISOR } from "./server-log.ts";
import { removeServerProcess, type ServerProcess, writeServerProcess } from "./server-process.ts";
import { type Stack, stackOf } from "./stack.ts";
import { makeFolder } from "./state.ts";

/** svc-api ends its requests within 25 s. */
const STOP_MS = 40_000;
/** The delay before a restart doubles from the first to the last. */
const FIRST_DELAY_MS = 500;
const LAST_DELAY_MS = 30_000;
/** A server that ran for this long did not fail to start: the next delay is the first one. */
const STEADY_MS = 60_000;

/**
 * The process behind a native server: runs svc-api, writes its output to the log, and restarts it when it ends. SIGTERM
 * stops both. The service manager, or `self-host start` itself, starts it.
 */
export const supervise: Handler<typeof table.supervise> = async ({ system }) => {
  const stack = stackOf(system);
  await makeFolder(stack);
  const unlock = await lock(stack);
  const stop = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => stop.abort());
  // a closed terminal does not end the server
  process.on("SIGHUP", () => {});
  const write = openLog(stack);
  const record: ServerProcess = { supervisor: self(), api: null, since: now(system), exits: 0 };
  try {
    for (let delay = FIRST_DELAY_MS; !stop.signal.aborted; ) {
      const startedAt = system.now();
      record.since = now(system);
      await runOnce(system, stack, record, write, stop.signal);
      if (stop.signal.aborted) break;
      record.exits++;
      record.api = null;
      await writeServerProcess(stack, record);
      if (system.now() - startedAt > STEADY_MS) delay = FIRST_DELAY_MS;
      await system.sleep(delay, stop.signal).catch(() => {});
      delay = Math.min(delay * 2, LAST_DELAY_MS);
    }
  } finally {
    await removeServerProcess(stack);
    unlock();
  }
};

/** Runs svc-api until it ends, or until `stop`. */
async function runOnce(
  system: Parameters<typeof supervise>[0]["system"],
  stack: Stack,
  record: ServerProcess,
  write: (chunk: Uint8Array) => void,
  stop: AbortSignal,
): Promise<void> {
  const say = (text: string) => write(Buffer.from(`${SUPERVISOR}${text}\n`));
  say(STARTS);
  let child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  try {
    child = Bun.spawn([join(stack.bin, "svc-api")], {
      cwd: stack.dir,
      env: serverEnvironment(system.env, stack, await requireEnv(stack)),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  } catch (error) {
    say(`svc-api cannot be started: ${error instanceof CliError ? error.message : systemCode(error)}`);
    return;
  }
  const end = () => {
    child.kill("SIGTERM");
    setTimeout(() => child.kill("SIGKILL"), STOP_MS).unref();
  };
  stop.addEventListener("abort", end, { once: true });
  if (stop.aborted) end();
  record.api = processOf(child.pid);
  await writeServerProcess(stack, record);
  await Promise.all([copy(child.stdout, write), copy(child.stderr, write), child.exited]);
  stop.removeEventListener("abort", end);
  say(`svc-api ended (${child.signalCode ?? `exit status ${child.exitCode}`})`);
}

async function copy(stream: ReadableStream<Uint8Array>, write: (chunk: Uint8Array) => void): Promise<void> {
  for await (const chunk of stream) write(chunk);
}

/** Locks the stack for this process. The kernel releases the lock when the process ends, so it is never stale. */
async function lock({ lockFile, dir }: Stack): Promise<() => void> {
  const { Database } = await import("bun:sqlite");
  const file = new Database(lockFile, { create: true });
  try {
    file.run("pragma busy_timeout = 0");
    file.run("begin exclusive");
  } catch (error) {
    file.close();
    if (systemCode(error) !== "SQLITE_BUSY") throw error;
    throw new CliError("self_host", `The self-hosted server in ${dir} runs already.`, {
      hint: "svc self-host status",
    });
  }
  return () => file.close();
}

const self = () => processOf(process.pid) ?? { pid: process.pid, id: "" };
const now = (system: { now(): number }): string => new Date(system.now()).toISOString();
