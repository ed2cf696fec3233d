import type { Libc } from "./libc.ts";

/** How long Bun may take to wait for a child of its own before we look past it again. */
const AGAIN_MS = 20;

/**
 * Takes note of the deaths of orphans that were handed to this process, so that no zombie stays. Bun's own children are
 * left to Bun, which would miss their exit codes.
 */
export function reapOrphans(libc: Libc, isOurs: (pid: number) => boolean): void {
  let isWaiting = false;
  process.on("SIGCHLD", look);

  function look(): void {
    for (let pid = libc.endedChild(); pid > 0; pid = libc.endedChild()) {
      if (isOurs(pid)) {
        lookAgain();
        return;
      }
      libc.reap(pid);
    }
  }

  function lookAgain(): void {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      look();
    }, AGAIN_MS).unref();
  }
}
