import * as kinds from "./kinds.ts";
import { isTable, type Table, type TableShape } from "./shape.ts";

/** How change requests are merged. */
export interface MergeRules {
  /** Whether through a queue, which tests the merged result before it lands. */
  queue: boolean;
  /** How long the checks of a merged result may take. */
  timeoutMinutes: number;
}

const TIMEOUT_MINUTES = 60;

export const mergeShape: TableShape = {
  is: "table",
  about: "How change requests are merged.",
  fields: {
    queue: {
      is: "value",
      kind: kinds.flag,
      fallback: false,
      about:
        "Whether a merge puts the change request into a queue, which runs the required checks on the merged result before it lands.",
    },
    timeout_minutes: {
      is: "value",
      kind: kinds.timeoutMinutes,
      fallback: TIMEOUT_MINUTES,
      about: "How long the required checks of a merged result may take.",
    },
  },
};

/** An invalid value counts as the most restrictive one: an untested result does not land. */
export function readMerge(root: Table): MergeRules {
  const table = root["merge"] ?? {};
  if (!isTable(table)) return { queue: true, timeoutMinutes: TIMEOUT_MINUTES };
  const { queue = false, timeout_minutes: minutes } = table;
  return {
    queue: queue !== false,
    timeoutMinutes: kinds.timeoutMinutes.fits(minutes) ? minutes : TIMEOUT_MINUTES,
  };
}
