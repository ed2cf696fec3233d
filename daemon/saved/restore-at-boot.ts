import type { Log } from "../log.ts";
import type { Children } from "../process/children.ts";
import type { Settings } from "../settings.ts";
import { restoreSaved } from "./restore.ts";
import { SaveError } from "./save-error.ts";
import type { Saver } from "./saver.ts";

/** Restores saved work at boot. A failure is reported, but the sandbox starts, and the work stays saved. */
export async function restoreAtBoot(
  { settings, children, log, saver }: { settings: Settings; children: Children; log: Log; saver: Saver },
  commit: string,
  signal: AbortSignal,
): Promise<void> {
  const report = (sentence: string) => {
    log.info(sentence);
    saver.reportRestoreProblem(sentence);
  };
  try {
    const { earlier } = await restoreSaved({ settings, children }, commit, signal);
    saver.adopt(commit, earlier);
    log.info(`restored the saved work ${commit}`);
    if (earlier !== null) {
      const remedy = `git fetch origin ${earlier}, then git cherry-pick --no-commit -m 1 FETCH_HEAD`;
      report(`Earlier saved work conflicts with it, and was not restored. Get it with: ${remedy}`);
    }
  } catch (error) {
    const why = error instanceof SaveError ? error.message : "something went wrong inside svc.";
    const remedy = `svc sessions saved ${settings.sessionId} | git apply --3way`;
    report(`The saved work was not restored: ${why} Get it with: ${remedy}`);
  }
}
