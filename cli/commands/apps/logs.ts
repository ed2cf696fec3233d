import type { AppLogLine, AppLogs } from "../../../src/contract/app.ts";
import { isTransient } from "../../../src/conversation/transport.ts";
import { type Api, path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";
import { consumeLines, rejectFollowWithJson } from "../sessions/log-lines.ts";
import { logRow } from "../sessions/show-session.ts";

/** Poll interval of a followed log. */
const POLL_MS = 1_000;
/** Lines requested at each poll. If more were added, only the last ones are shown. */
const WINDOW = 1_000;
/** Time without a response after which it gives up. */
const LOST_MS = 120_000;

/** @param tail the number of last lines; undefined for the server's default */
type Read = (tail: number | undefined) => Promise<AppLogs>;

export const logs: Handler<typeof table.logs> = async (context, { args, flags }) => {
  if (flags.follow) rejectFollowWithJson(context.out.data.json);
  const { id } = await context.project();
  const api = await context.api();
  const { deployment, tail } = flags;
  const read = readerOf(api, path`/projects/${id}/apps/${args.slug}`, deployment);
  if (flags.follow) return followLog(context, read, { tail, isOfOne: deployment !== undefined });
  await showLog(context, read, tail);
};

/** @param at the path of an app or a preview */
export function readerOf(api: Api, at: string, deployment?: number): Read {
  return async (tail) => {
    const log = await api.call<AppLogs>({ path: `${at}/logs`, query: { deployment, tail } });
    if (Array.isArray(log.lines)) return log;
    throw new CliError("unexpected_response", "The host sent a log without lines.");
  };
}

/** Prints the end of a log. */
export async function showLog(context: Context, read: Read, tail: number | undefined): Promise<void> {
  const { out } = context;
  const log = await read(tail);
  await print(context, log.lines, log);
  if (log.deployment === null) await out.note("The app has no deployment yet.");
  else if (log.lines.length === 0) await out.note("The log is empty.");
  else if (log.truncated && tail === undefined) await out.note("This is the end of a longer log.");
}

/**
 * Prints a log and its new lines: of one deployment until it ends, or else of the newest one, continuing with each new
 * deployment.
 */
async function followLog(
  context: Context,
  read: Read,
  { tail, isOfOne }: { tail: number | undefined; isOfOne: boolean },
): Promise<void> {
  const { out, system } = context;
  let shown = await read(Math.max(WINDOW, tail ?? 0));
  await print(context, shown.lines.slice(-(tail ?? WINDOW)));
  if (shown.deployment === null) await out.note("The app has no deployment yet. Waiting for one…");
  let answeredAt = performance.now();
  let isLost = false;
  for (;;) {
    if (isOfOne && shown.deployment && isOver(shown.deployment.state))
      return out.note(`Deployment ${shown.deployment.number} has ended: ${shown.deployment.state}.`);
    await system.sleep(POLL_MS);
    try {
      const log = await read(WINDOW);
      const isSame = log.deployment?.deployment_id === shown.deployment?.deployment_id;
      if (!isSame && log.deployment)
        await out.note(`Deployment ${log.deployment.number} is ${log.deployment.state}…`);
      // new lines may be in between: svc's own lines come before the app's
      const wasShown = consumeLines(isSame ? shown.lines : []);
      await print(
        context,
        log.lines.filter((line) => !wasShown(line)),
      );
      shown = log;
      answeredAt = performance.now();
      isLost = false;
    } catch (error) {
      if (!isTransient(error) || performance.now() - answeredAt > LOST_MS) throw error;
      if (!isLost) await out.note(`${error instanceof Error ? error.message : "No response."} Retrying…`);
      isLost = true;
    }
  }
}

const isOver = (state: string): boolean => ["retired", "failed", "stopped"].includes(state);

function print({ out }: Context, lines: readonly AppLogLine[], data: AppLogs | null = null): Promise<void> {
  return out.result(data, (view) => lines.map((line) => logRow(line, view)).join(""));
}
