import { SandboxError, type SandboxSpec } from "../provider.ts";
import { findSandbox } from "./find.ts";
import { type Folder, readState } from "./folder.ts";
import { type LaunchOptions, prepare } from "./launch.ts";
import { findWalls, type WallsOptions } from "./walls.ts";

/** The daemon itself gives a save less. */
const SAVE_MS = 150_000;
const WORDS_MAX = 300;

/**
 * Saves the work of a sandbox that has ended: its daemon is run once more in its folder, behind the same walls, to do
 * only that. Nothing to save is no error.
 * @throws SandboxError in the daemon's words
 */
export async function saveSandbox(
  options: LaunchOptions & WallsOptions,
  folder: Folder,
  spec: Pick<SandboxSpec, "sessionId" | "environment" | "limits">,
): Promise<void> {
  const [state, sandbox] = [await readState(folder), await findSandbox(options, folder, spec.sessionId)];
  if (!state || sandbox?.state !== "ended") return;
  const isolation = state.walls?.length === 0 ? "none" : "required";
  // a save lasts minutes at most: no control groups are created for it
  const walls = await findWalls({ ...options, isolation, findCgroups: async () => null });
  const ports = { daemon: state.port, runtime: state.runtimePort };
  const log = () => {};
  const run = await prepare(options, { folder, walls }, { ...spec, hasRuntime: false }, ports, { log }, [
    "save",
  ]);
  const child = Bun.spawn(run.command, {
    env: run.environment,
    cwd: run.directory,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: SAVE_MS,
    killSignal: "SIGKILL",
  });
  const words = await new Response(child.stdout).text();
  if ((await child.exited) === 0) return;
  const reason = words.trim().split("\n").at(-1)?.slice(-WORDS_MAX) || "it gave no reason";
  throw new SandboxError(`The sandbox's work was not saved: ${reason}`);
}
