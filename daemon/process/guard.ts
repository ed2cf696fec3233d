import type { Log } from "../log.ts";
import type { Children } from "./children.ts";
import { loadLibc } from "./libc.ts";
import { reapOrphans } from "./reaper.ts";

/** Hides the daemon's memory from what it starts, and takes in what is orphaned; where it cannot, it says so. */
export function guardProcess(children: Children, log: Log): void {
  const libc = loadLibc();
  const isHidden = libc?.hide() ?? false;
  const adopts = libc?.adoptOrphans() ?? false;
  if (libc && adopts) reapOrphans(libc, children.isOurs);
  if (!isHidden || !adopts)
    log.info("the C library cannot be called: orphans and the daemon's memory are not guarded");
}
