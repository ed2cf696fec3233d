import type { AppLogs } from "../../../src/contract/app.ts";
import { path } from "../../api.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";
import { logRow } from "../sessions/show-session.ts";

export const logs: Handler<typeof table.logs> = async (context, { args, flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const { deployment, tail } = flags;
  const call = { path: path`/projects/${id}/apps/${args.slug}/logs`, query: { deployment, tail } };
  const log = await api.call<AppLogs>(call);
  if (!Array.isArray(log.lines))
    throw new CliError("unexpected_response", "The host sent a log without lines.");
  await context.out.result(log, (view) => log.lines.map((line) => logRow(line, view)).join(""));
  if (log.deployment === null) await context.out.note("The app has no deployment yet.");
  else if (log.lines.length === 0) await context.out.note("The log is empty.");
  else if (log.truncated && tail === undefined) await context.out.note("This is the end of a longer log.");
};
