import type { Log } from "../log.ts";
import type { Children } from "../process/children.ts";
import type { Settings } from "../settings.ts";
import { restoreSaved } from "./restore.ts";
import { SaveError } from "./save-error.ts";
import type { Saver } from "./saver.ts";

/** Brings saved work back, and says what became of it: the sandbox works in any case, and nothing saved is lost. */
export async function restoreAtBoot(
  { settings, children, log, saver }: { settings: Settings; children: Children; log: Log; saver: Saver },
  commit: string,
  signal: AbortSignal,
): Promise<void> {
  const tell = (sentence: string) => {
    log.info(sentence);
    saver.reportRestoreProblem(sentence);
  };
  try {
    const { earlier } = await restoreSaved({ settings, children }, commit, signal);
    saver.adopt(commit, earlier);
    log.info(`brought back the saved work ${commit}`);
    if (earlier !== null) {
      const remedy = `git fetch origin ${earlier}, then git cherry-pick --no-commit -m 1 FETCH_HEAD`;
      tell(`Work that was saved before conflicts with it, and was not brought back. Get it with: ${remedy}`);
    }
  } catch (error) {
    const why = error instanceof SaveError ? error.message : "something went wrong inside svc.";
    const remedy = `svc sessions saved ${settings.sessionId} | git apply --3way`;
    tell(`The saved work was not brought back: ${why} Get it with: ${remedy}`);
  }
}
