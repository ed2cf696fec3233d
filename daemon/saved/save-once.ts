import { createLog } from "../log.ts";
import { createChildren } from "../process/children.ts";
import { guardProcess } from "../process/guard.ts";
import type { Settings } from "../settings.ts";
import { Saver } from "./saver.ts";

/** 100,000 files on a slow disk; whoever started this waits a little longer. */
const SAVE_MS = 120_000;

/** Saves the work of a sandbox whose daemon has ended, and does nothing else. @returns whether it is saved */
export async function saveOnce(settings: Settings): Promise<boolean> {
  const log = createLog();
  const children = createChildren();
  guardProcess(children, log);
  const saver = new Saver({ settings, children, log, secrets: () => settings.secrets });
  await saver.save(SAVE_MS);
  return saver.problem === null;
}
