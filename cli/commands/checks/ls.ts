import type { CombinedStatus } from "../../../src/contract/commit-status.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/checks.ts";
import { commitOf } from "./report.ts";
import { statusesText } from "./show-statuses.ts";

export const ls: Handler<typeof table.ls> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const sha = await commitOf(context, args.commit);
  const { statuses } = await api.call<CombinedStatus>({
    path: path`/projects/${id}/commits/${sha}/status`,
  });
  await context.out.result(statuses, (view) => statusesText(statuses, view));
  if (statuses.length === 0) await context.out.note(`No checks were reported for ${sha.slice(0, 10)}.`);
};
