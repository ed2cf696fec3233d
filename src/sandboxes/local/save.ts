import { SandboxError, type SandboxSpec } from "../provider.ts";
import { findSandbox } from "./find.ts";
import { type Folder, readState } from "./folder.ts";
import { findIsolation, type IsolationOptions } from "./isolation.ts";
import { type LaunchOptions, prepare } from "./launch.ts";

/** Longer than the time limit of the daemon itself. */
const SAVE_MS = 150_000;
const REASON_MAX = 300;

/**
 * Saves the work of a sandbox that has ended: runs `svc-agent save` in its folder, with the same isolation. It is not an
 * error if there is nothing to save.
 * @throws SandboxError with the daemon's message
 */
export async function saveSandbox(
  options: LaunchOptions & IsolationOptions,
  folder: Folder,
  spec: Pick<SandboxSpec, "sessionId" | "environment" | "limits">,
): Promise<void> {
  const [state, sandbox] = [await readState(folder), await findSandbox(options, folder, spec.sessionId)];
  if (!state || sandbox?.state !== "ended") return;
  const setting = state.walls?.length === 0 ? "none" : "required";
  // a save takes minutes at most: it needs no control groups
  const isolation = await findIsolation({ ...options, isolation: setting, findCgroups: async () => null });
  const ports = { daemon: state.port, runtime: state.runtimePort };
  const log = () => {};
  const run = await prepare(options, { folder, isolation }, { ...spec, runtime: null }, ports, { log }, [
    "save",
  ]);
  const child = Bun.spawn(run.command, {
    env: run.environment,
    cwd: run.directory,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: SAVE_MS,
    killSignal: "SIGKILL",
  });
  const stdout = await new Response(child.stdout).text();
  if ((await child.exited) === 0) return;
  const reason = stdout.trim().split("\n").at(-1)?.slice(-REASON_MAX) || "svc-agent reported no reason";
  throw new SandboxError(`The sandbox's work was not saved: ${reason}`);
}
