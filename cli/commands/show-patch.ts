import type { Context } from "../context.ts";
import { painter } from "../output.ts";
import { withPager } from "../pager.ts";
import type { Opened } from "../request.ts";
import { paintDiff } from "./paint-diff.ts";

/**
 * Shows a patch: on a terminal coloured and in a pager, elsewhere unchanged, so that `git apply` accepts it, unless colour
 * is forced.
 */
export async function showPatch(context: Context, patch: Opened, noPager: boolean): Promise<void> {
  const { out, system, sandbox } = context;
  if (!system.stdout.isTTY && !out.colour(system.stdout)) {
    for await (const chunk of patch.stream()) await system.stdout.write(chunk);
    return;
  }
  const text = paintDiff(patch.stream(), painter(out.colour(system.stdout)));
  const paged =
    system.stdout.isTTY && !noPager && !sandbox && !system.env["CI"] && system.env["TERM"] !== "dumb";
  if (paged) return withPager(system, text);
  for await (const part of text) await system.stdout.write(part);
}
