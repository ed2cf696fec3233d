import type { Libc } from "./libc.ts";

/** How long Bun has to reap a child of its own before the next attempt. */
const RETRY_MS = 20;

/**
 * Reaps orphans that became children of this process, so that no zombies remain. Bun reaps its own children itself: it
 * would miss their exit codes otherwise.
 */
export function reapOrphans(libc: Libc, isOurs: (pid: number) => boolean): void {
  let isWaiting = false;
  process.on("SIGCHLD", reap);

  function reap(): void {
    for (let pid = libc.endedChild(); pid > 0; pid = libc.endedChild()) {
      if (isOurs(pid)) {
        retry();
        return;
      }
      libc.reap(pid);
    }
  }

  function retry(): void {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      reap();
    }, RETRY_MS).unref();
  }
}
