import type { Check, CheckList, CheckLog, CheckLogLine } from "../../../src/contract/check.ts";
import { path as at } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { oneLine } from "../../text.ts";
import { consumeLines } from "../sessions/log-lines.ts";
import { logRow } from "../sessions/show-session.ts";
import type { Found } from "./reference.ts";
import { showRunOutput } from "./run-output.ts";

/** Poll interval of a followed log. */
const POLL_MS = 1_000;
/** Lines requested at each poll. If more were added, only the last ones are shown. */
const WINDOW = 5_000;

const hasEnded = ({ state }: Check): boolean => state !== "queued" && state !== "running";

/**
 * Prints the log of a check that svc runs, or what a check run says.
 * @param follows prints new lines until the check has ended
 */
export async function showCheckLog(
  context: Context,
  found: Found,
  name: string,
  follows: boolean,
): Promise<void> {
  const { out, system } = context;
  if (out.data.json) throw usage("--log cannot be used with --json or --jq.", "Leave out --json and --jq.");
  const { id } = await context.project();
  const { checks } = await found.api.call<CheckList>({ path: `${found.path}/checks` });
  const own = checks.find((each) => each.name === name);
  if (!own) {
    if (await showRunOutput(context, found, name, follows)) return;
    throw noLog(checks, name);
  }
  const { check_id } = own;
  const read = async (): Promise<CheckLog> => {
    const log = await found.api.call<CheckLog>({
      path: at`/projects/${id}/checks/${check_id}/log`,
      query: { tail: WINDOW },
    });
    if (Array.isArray(log.lines)) return log;
    throw new CliError("unexpected_response", "The host sent a log without lines.");
  };
  let shown = await read();
  await print(context, shown.lines);
  while (follows && !hasEnded(shown.check)) {
    await system.sleep(POLL_MS);
    const log = await read();
    const wasShown = consumeLines(log.check.attempt === shown.check.attempt ? shown.lines : []);
    await print(
      context,
      log.lines.filter((line) => !wasShown(line)),
    );
    shown = log;
  }
  const { check, lines, truncated } = shown;
  if (lines.length === 0) await out.note("The log is empty.");
  if (truncated && !follows) await out.note("This is the end of a longer log.");
  await out.note(`${oneLine(check.name)} is ${stateText(check)}`);
  if (check.state === "failure" || check.state === "error")
    throw new CliError("checks_failed", `The check ${oneLine(check.name)} failed.`);
}

function stateText({ state, description }: Check): string {
  return description === null ? `${state}.` : `${state}: ${oneLine(description)}.`;
}

function noLog(checks: readonly Check[], name: string): CliError {
  const names = checks.map((each) => oneLine(each.name)).join(", ");
  return new CliError("not_found", `svc has no log of a check ${oneLine(name)} for the last commit.`, {
    hint:
      names === ""
        ? "svc runs no checks on it. Those that CI reports have their logs there: `svc cr checks` shows the links."
        : `Those that svc runs: ${names}`,
  });
}

function print({ out }: Context, lines: readonly CheckLogLine[]): Promise<void> {
  return out.result(null, (view) => lines.map((line) => logRow(line, view)).join(""));
}
