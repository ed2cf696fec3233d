import { usage } from "../../failure.ts";

/** Whether a command waits for the outcome: unless --no-wait is given. @throws CliError `usage`. */
export function shouldWait(flags: { readonly wait: boolean; readonly "no-wait": boolean }): boolean {
  if (flags.wait && flags["no-wait"]) throw usage("--wait and --no-wait cannot be used together.");
  return !flags["no-wait"];
}
