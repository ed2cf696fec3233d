import { SandboxError } from "../provider.ts";
import { JOIN } from "./cgroup.ts";
import type { Folder } from "./folder.ts";
import { PUMP } from "./log.ts";

/** Of 1000: above what desktops give to their browsers' tabs. */
const FIRST_TO_DIE = 500;

/**
 * Stands above a sandbox's processes and outlives the server: joins its control groups, says who the daemon is, keeps the
 * end of the log, and writes the exit code down, by which a sandbox has ended: once its last words are in the log, or a
 * second later, since something that it has left may hold the log open. What runs out of memory is looked for among
 * sandboxes first (proc_pid_oom_score_adj(5)).
 */
const SCRIPT = `folder=$1; shift
if [ -e "$folder/cgroups" ]; then
  ${JOIN} <"$folder/cgroups"
fi
{ echo ${FIRST_TO_DIE} >/proc/self/oom_score_adj; } 2>/dev/null
${PUMP}
finish() { command -p mv -f "$folder/exit.new" "$folder/exit" 2>/dev/null; }
{
  /bin/sh -c 'echo $$ >"$0/daemon" && exec "$@"' "$folder" "$@" 2>&1
  echo $? >"$folder/exit.new"
  { command -p sleep 1; finish; } >/dev/null 2>&1 &
} | pump
finish`;

/** The system's word for what an environment cannot hold. */
const TOO_LARGE = "E2BIG";

/**
 * Starts a sandbox's command with nothing but the given environment, in a session of its own.
 * @throws SandboxError when the environment cannot be given to a process
 */
export function supervise(
  folder: Folder,
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
  directory: string,
): Bun.Subprocess {
  const bad = Object.entries(environment).find(([name, value]) => `${name}${value}`.includes("\0"));
  if (bad) {
    throw new SandboxError(
      `The value of ${bad[0]} contains a NUL character, which environment variables cannot contain.`,
      {
        permanent: true,
      },
    );
  }
  try {
    const child = Bun.spawn(["/bin/sh", "-c", SCRIPT, "svc-sandbox", folder.path, ...command], {
      env: { ...environment },
      cwd: directory,
      detached: true,
      stdio: ["ignore", "ignore", "ignore"],
    });
    child.unref();
    return child;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === TOO_LARGE)) throw error;
    throw new SandboxError(
      "The session's environment is too large for a process: its secrets and first prompt together.",
      { permanent: true },
    );
  }
}
