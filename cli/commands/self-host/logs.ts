import { stat } from "node:fs/promises";
import { CliError, usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type { System } from "../../system.ts";
import type * as table from "../../table/self-host.ts";
import { logText } from "../../text.ts";
import { compose } from "./compose.ts";
import { lastLine } from "./engine.ts";
import { notInSandbox } from "./not-in-sandbox.ts";
import { lastLines, readFrom } from "./server-log.ts";
import { type Stack, stackOf } from "./stack.ts";
import { requireState } from "./state.ts";

const LINES = 100;
const POLL_MS = 500;
/** Following a log has no end of its own. */
const FOLLOW_MS = 2 ** 31 - 1;

export const logs: Handler<typeof table.logs> = async (context, { args, flags }) => {
  notInSandbox(context);
  const { system } = context;
  const stack = stackOf(system);
  const { mode } = await requireState(stack);
  const tail = flags.tail ?? LINES;
  if (mode === "native") {
    if (args.service === "db")
      throw usage("A native server has no service db: its database is embedded in api.");
    if (args.service === "caddy")
      throw usage(
        "A native server does not run Caddy.",
        "A Caddy of your own has a log: journalctl -u caddy",
      );
    await print(system, lastLines(stack, tail));
    if (flags.follow) await follow(system, stack);
    return;
  }
  await containerLogs(system, stack, [
    `--tail=${tail}`,
    ...(flags.follow ? ["--follow"] : []),
    ...(args.service === undefined ? [] : [args.service]),
  ]);
};

async function follow(system: System, { log }: Stack): Promise<void> {
  const found = await stat(log).catch(() => null);
  let from = { inode: found?.ino ?? 0, offset: found?.size ?? 0 };
  for (let rest = ""; ; await system.sleep(POLL_MS)) {
    const { text, next } = readFrom(log, from);
    from = next;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) await print(system, lines);
  }
}

/** Docker's own output: its services' lines as they come. */
async function containerLogs(system: System, stack: Stack, args: readonly string[]): Promise<void> {
  const { code, err } = await compose(system, stack, ["logs", "--no-color", ...args], {
    ms: FOLLOW_MS,
    onLine: (line) => print(system, [line]),
  });
  if (code === 0) return;
  throw new CliError("self_host", `Docker cannot show the log: ${lastLine(err)}`, {
    hint: "svc self-host status",
  });
}

const print = (system: System, lines: readonly string[]): Promise<void> =>
  system.stdout.write(lines.map((line) => `${logText(line)}\n`).join(""));
