import type { Log } from "../log.ts";
import type { Children } from "./children.ts";
import { loadLibc } from "./libc.ts";
import { reapOrphans } from "./reaper.ts";

/** Hides the daemon's memory from the processes that it starts, and adopts orphans. Logs if that is not possible. */
export function guardProcess(children: Children, log: Log): void {
  const libc = loadLibc();
  const isHidden = libc?.hide() ?? false;
  const adopts = libc?.adoptOrphans() ?? false;
  if (libc && adopts) reapOrphans(libc, children.isOurs);
  if (!isHidden || !adopts)
    log.info("libc could not be loaded: orphans are not reaped, and the daemon's memory is not hidden");
}
