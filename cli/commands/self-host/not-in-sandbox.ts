import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";

/** @throws CliError `self_host` in a sandbox, which cannot run a server of its own */
export function notInSandbox({ sandbox }: Context): void {
  if (sandbox) throw new CliError("self_host", "A sandbox cannot run a server. Run this on your machine.");
}
