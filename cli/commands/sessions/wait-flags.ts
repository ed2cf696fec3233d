import { usage } from "../../failure.ts";

/** Whether a command waits for what it started: it does, unless --no-wait is given. @throws CliError `usage`. */
export function waits(flags: { readonly wait: boolean; readonly "no-wait": boolean }): boolean {
  if (flags.wait && flags["no-wait"]) throw usage("--wait and --no-wait exclude each other.");
  return !flags["no-wait"];
}
