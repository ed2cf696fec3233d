import type { Context } from "../context.ts";
import { withPager } from "../pager.ts";

/** Shows text in a pager if a person reads it: on a terminal, and not in a sandbox or in CI. */
export async function showPaged(
  { system, sandbox }: Context,
  text: AsyncIterable<string>,
  noPager: boolean,
): Promise<void> {
  const { stdout, env } = system;
  if (stdout.isTTY && !noPager && !sandbox && !env["CI"] && env["TERM"] !== "dumb")
    return withPager(system, text);
  for await (const part of text) await stdout.write(part);
}
