import type { Context } from "../context.ts";
import { painter } from "../output.ts";
import type { Opened } from "../request.ts";
import { paintDiff } from "./paint-diff.ts";
import { showPaged } from "./show-paged.ts";

/**
 * Shows a patch: on a terminal coloured and in a pager, elsewhere unchanged, so that `git apply` accepts it, unless colour
 * is forced.
 */
export async function showPatch(context: Context, patch: Opened, noPager: boolean): Promise<void> {
  const { out, system } = context;
  if (!system.stdout.isTTY && !out.colour(system.stdout)) {
    for await (const chunk of patch.stream()) await system.stdout.write(chunk);
    return;
  }
  await showPaged(context, paintDiff(patch.stream(), painter(out.colour(system.stdout))), noPager);
}
