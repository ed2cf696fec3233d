import type { DeploymentDiff } from "../../../src/contract/app.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";
import { showPatch } from "../show-patch.ts";
import { readNumber } from "./number.ts";

export const diff: Handler<typeof table.diff> = async (context, { args, flags }) => {
  const number = readNumber(args.deployment);
  const { id } = await context.project();
  const api = await context.api();
  const at = path`/projects/${id}/apps/${args.slug}/deployments/${String(number)}/diff`;
  if (context.out.data.json) {
    const found = await api.call<DeploymentDiff>({ path: at, slow: true });
    return context.out.result(found, () => "");
  }
  const patch = await api.open({ path: at, accept: "text/x-diff", slow: true });
  await showPatch(context, patch, flags["no-pager"]);
};
