import type { AppLogLine, AppLogs } from "../../../src/contract/app.ts";
import { isTransient } from "../../../src/conversation/transport.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";
import { refuseToFollowAsJson, strikeOff } from "../sessions/log-lines.ts";
import { logRow } from "../sessions/show-session.ts";

/** Between two looks at a log that is followed. */
const LOOK_MS = 1_000;
/** Lines that are asked for at each look: more between two of them is a flood, of which the end is shown. */
const WINDOW = 1_000;
/** Without any answer for so long it is given up. */
const LOST_MS = 120_000;

/** @param tail as many of the last lines; undefined: as many as the server answers by itself */
type Read = (tail: number | undefined) => Promise<AppLogs>;

export const logs: Handler<typeof table.logs> = async (context, { args, flags }) => {
  const { out } = context;
  if (flags.follow) refuseToFollowAsJson(out.data.json);
  const { id } = await context.project();
  const api = await context.api();
  const { deployment, tail } = flags;
  const read: Read = async (tail) => {
    const call = { path: path`/projects/${id}/apps/${args.slug}/logs`, query: { deployment, tail } };
    const log = await api.call<AppLogs>(call);
    if (Array.isArray(log.lines)) return log;
    throw new CliError("unexpected_response", "The host sent a log without lines.");
  };
  if (flags.follow) return followLog(context, read, { tail, isOfOne: deployment !== undefined });
  const log = await read(tail);
  await print(context, log.lines, log);
  if (log.deployment === null) await out.note("The app has no deployment yet.");
  else if (log.lines.length === 0) await out.note("The log is empty.");
  else if (log.truncated && tail === undefined) await out.note("This is the end of a longer log.");
};

/**
 * Shows what a log has, then what is added: of one deployment until it is over; else without end, of the newest, which is
 * another one after the next merge.
 */
async function followLog(
  context: Context,
  read: Read,
  { tail, isOfOne }: { tail: number | undefined; isOfOne: boolean },
): Promise<void> {
  const { out, system } = context;
  let shown = await read(Math.max(WINDOW, tail ?? 0));
  await print(context, shown.lines.slice(-(tail ?? WINDOW)));
  if (shown.deployment === null) await out.note("The app has no deployment yet: waiting for one…");
  let answeredAt = performance.now();
  let isLost = false;
  for (;;) {
    if (isOfOne && shown.deployment && isOver(shown.deployment.state))
      return out.note(`Deployment ${shown.deployment.number} is over: ${shown.deployment.state}.`);
    await system.sleep(LOOK_MS);
    try {
      const log = await read(WINDOW);
      const isSame = log.deployment?.deployment_id === shown.deployment?.deployment_id;
      if (!isSame && log.deployment)
        await out.note(`Deployment ${log.deployment.number} is ${log.deployment.state}…`);
      // what is added may stand in between: what svc does is above what the app says
      const wasShown = strikeOff(isSame ? shown.lines : []);
      await print(
        context,
        log.lines.filter((line) => !wasShown(line)),
      );
      shown = log;
      answeredAt = performance.now();
      isLost = false;
    } catch (error) {
      if (!isTransient(error) || performance.now() - answeredAt > LOST_MS) throw error;
      if (!isLost) await out.note(`${error instanceof Error ? error.message : "No answer."} Trying again…`);
      isLost = true;
    }
  }
}

const isOver = (state: string): boolean => ["retired", "failed", "stopped"].includes(state);

function print({ out }: Context, lines: readonly AppLogLine[], data: AppLogs | null = null): Promise<void> {
  return out.result(data, (view) => lines.map((line) => logRow(line, view)).join(""));
}
