import { createLog } from "../log.ts";
import { createChildren } from "../process/children.ts";
import { guardProcess } from "../process/guard.ts";
import type { Settings } from "../settings.ts";
import { Saver } from "./saver.ts";

/** 100,000 files on a slow disk. The timeout of the provider, which runs this, is a little longer. */
const SAVE_MS = 120_000;

/** Saves unpushed work of a sandbox whose daemon has ended (`svc-agent save`). @returns whether it succeeded */
export async function saveOnce(settings: Settings): Promise<boolean> {
  const log = createLog();
  const children = createChildren();
  guardProcess(children, log);
  const saver = new Saver({ settings, children, log, secrets: () => settings.secrets });
  await saver.save(SAVE_MS);
  return saver.problem === null;
}
