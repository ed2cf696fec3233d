import { SandboxError } from "../provider.ts";
import { JOIN } from "./cgroup.ts";
import type { Folder } from "./folder.ts";
import { PUMP } from "./log.ts";

/** The oom_score_adj of sandboxes, at most 1000: higher than that of browser tabs on desktops. */
const OOM_SCORE = 500;

/**
 * Supervises a sandbox's processes and outlives the server: joins its control groups, records the daemon's pid, keeps the
 * end of the log, and records the exit code. A sandbox has ended when the exit code is recorded: once the log is complete, or
 * a second after the daemon's end, since remaining processes may keep the log open. Out of memory, the kernel kills
 * processes of sandboxes first (proc_pid_oom_score_adj(5)).
 */
const SCRIPT = `folder=$1; shift
if [ -e "$folder/cgroups" ]; then
  ${JOIN} <"$folder/cgroups"
fi
{ echo ${OOM_SCORE} >/proc/self/oom_score_adj; } 2>/dev/null
${PUMP}
finish() { command -p mv -f "$folder/exit.new" "$folder/exit" 2>/dev/null; }
{
  /bin/sh -c 'echo $$ >"$0/daemon" && exec "$@"' "$folder" "$@" 2>&1
  echo $? >"$folder/exit.new"
  { command -p sleep 1; finish; } >/dev/null 2>&1 &
} | pump
finish`;

/** execve(2): the arguments and the environment are too large. */
const TOO_LARGE = "E2BIG";

/**
 * Starts a sandbox's command in a new session (setsid(2)), with only the given environment.
 * @throws SandboxError when the environment is not valid or too large
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
      "The session's environment, with its secrets and first prompt, is too large for a process.",
      { permanent: true },
    );
  }
}
