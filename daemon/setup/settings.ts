import { field, numberField, parseJson, textField } from "../../src/contract/json.ts";
import type { DaemonSetup } from "../../src/contract/setup.ts";

/** Reads `SVC_SETUP`; null if it is invalid. */
export function readSetup(text: string): DaemonSetup | null {
  const value = parseJson(text);
  const [command, timeoutMs] = [textField(value, "command"), numberField(value, "timeoutMs")];
  if (command === "" || timeoutMs === null || timeoutMs <= 0) return null;
  return { command, timeoutMs, isKept: field(value, "isKept") === true };
}
