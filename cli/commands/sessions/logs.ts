import type { LogLine } from "../../../src/contract/session.ts";
import { follow } from "../../../src/conversation/follow.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import type { View } from "../../output.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sessions.ts";
import { oneLine } from "../../text.ts";
import { transportOf } from "../../transport.ts";
import { consumeLines, rejectFollowWithJson } from "./log-lines.ts";
import { type Found, findOwnSession } from "./reference.ts";
import { logRow, shortId, statusText } from "./show-session.ts";

/** Answer of `GET /v1/projects/:id/sessions/:sid/logs`. */
interface Log {
  lines: LogLine[];
  /** Whether older lines are left out. */
  truncated: boolean;
}

export const logs: Handler<typeof table.logs> = async (context, { args, flags }) => {
  const { out } = context;
  if (flags.follow) rejectFollowWithJson(out.data.json);
  const found = await findOwnSession(context, args.id, " For an app: `svc apps logs <slug>`.");
  if (flags.follow) return followLog(context, found, flags.tail);
  const log = await read(found, flags.tail);
  await out.result(log, (view) => rows(log.lines, view));
  await noteTruncated(context, log, flags.tail);
  if (log.lines.length === 0) await out.note("The log is empty.");
};

/** Prints the log so far and then each new line, until the session ends. */
async function followLog(context: Context, found: Found, tail: number | undefined): Promise<void> {
  const { out } = context;
  const print = (lines: readonly LogLine[]) => out.result(null, (view) => rows(lines, view));
  let isNew: ((line: LogLine) => boolean) | undefined;
  let isLost = false;
  for await (const event of follow(transportOf(found.api), found.path, new AbortController().signal)) {
    if (event.type === "deleted") return out.note("The session was deleted.");
    if (event.type === "lost") {
      if (!isLost) await out.note(`${event.reason} Reconnecting…`);
      isLost = true;
      continue;
    }
    isLost = false;
    // The stream is open before the log is read, so that no line is missed.
    if (event.type === "session" && isNew === undefined) {
      const log = await read(found, undefined);
      await noteTruncated(context, log, tail);
      await print(log.lines.slice(-(tail ?? log.lines.length)));
      isNew = after(log.lines);
    }
    if (event.type === "log" && isNew?.(event.line)) await print([event.line]);
    if (event.type === "session" && ["stopped", "failed"].includes(event.session.status)) {
      return out.note(
        `The session ${shortId(event.session)} has ended: ${oneLine(statusText(event.session))}.`,
      );
    }
  }
}

async function read({ api, path }: Found, tail: number | undefined): Promise<Log> {
  const { lines, truncated } = await api.call<Log>({ path: `${path}/logs`, query: { tail } });
  if (!Array.isArray(lines)) throw new CliError("unexpected_response", "The host sent a log without lines.");
  return { lines, truncated };
}

const rows = (lines: readonly LogLine[], view: View): string =>
  lines.map((line) => logRow(line, view)).join("");

async function noteTruncated({ out }: Context, { truncated }: Log, tail: number | undefined): Promise<void> {
  if (truncated && tail === undefined) await out.note("This is the end of a longer log.");
}

/**
 * Returns a filter for new lines of a stream. A running sandbox's lines have no time; they are sent again with a time when
 * they are stored.
 */
function after(lines: readonly LogLine[]): (line: LogLine) => boolean {
  const newest = lines.reduce((last, { at }) => (at !== null && at > last ? at : last), "");
  const isKnown = consumeLines(lines);
  return (line) =>
    !isKnown(line) && !isKnown({ ...line, at: null }) && (line.at === null || line.at >= newest);
}
