import type { ChangeRequestDiff } from "../../../src/contract/change-request.ts";
import type { Context } from "../../context.ts";
import { painter } from "../../output.ts";
import { withPager } from "../../pager.ts";
import type { Opened } from "../../request.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr.ts";
import { paintDiff } from "./paint-diff.ts";
import { findCr } from "./reference.ts";

export const diff: Handler<typeof table.diff> = async (context, { args, flags }) => {
  const { out, system } = context;
  const found = await findCr(context, args.cr);
  const path = `${found.path}/diff`;
  if (out.data.json) {
    const answer = await found.api.call<ChangeRequestDiff>({ path, slow: true });
    return out.result(answer, () => "");
  }
  const patch = await found.api.open({ path, accept: "text/x-diff", slow: true });
  if (system.stdout.isTTY) return onTerminal(context, patch, flags["no-pager"]);
  // Byte for byte, whatever it holds, so that `git apply` takes it; colour only if it is forced.
  if (!out.colour(system.stdout)) {
    for await (const chunk of patch.stream()) await system.stdout.write(chunk);
    return;
  }
  for await (const text of paintDiff(patch.stream(), painter(true))) await system.stdout.write(text);
};

async function onTerminal({ out, system, sandbox }: Context, patch: Opened, noPager: boolean): Promise<void> {
  const text = paintDiff(patch.stream(), painter(out.colour(system.stdout)));
  const paged = !noPager && !sandbox && !system.env["CI"] && system.env["TERM"] !== "dumb";
  if (paged) return withPager(system, text);
  for await (const part of text) await system.stdout.write(part);
}
