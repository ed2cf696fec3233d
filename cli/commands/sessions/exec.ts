import type { StartedExec } from "../../../src/contract/exec.ts";
import type { ExecClient, ExecExit } from "../../../src/conversation/exec.ts";
import type { Context } from "../../context.ts";
import { attach, type Ends, exitAs } from "../../exec/attach.ts";
import { openRawTerminal } from "../../exec/terminal.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-exec.ts";
import { type Found, findSession } from "./reference.ts";

export const exec: Handler<typeof table.exec> = async (context, { args, flags }) => {
  const found = await findSession(context, args.id);
  if (flags.tty) return exitAs(await inTerminal(context, found, args.command));
  const { api, path } = found;
  const started = await api.call<StartedExec>({ path: `${path}/exec`, body: { command: args.command } });
  const stdin = flags["no-stdin"] ? null : context.system.stdin.stream();
  const interrupts = interruptsOf();
  try {
    const ends = { ...endsOf(context), stdin, onClient: interrupts.follow };
    exitAs(await attach(api, started, ends));
  } finally {
    interrupts.stop();
  }
};

export const shell: Handler<typeof table.shell> = async (context, { args }) => {
  const found = await findSession(context, args.id);
  exitAs(await inTerminal(context, found, []));
};

async function inTerminal(context: Context, { api, path }: Found, command: string[]): Promise<ExecExit> {
  const { stdin, stdout } = context.system;
  if (!stdin.isTTY || !stdout.isTTY)
    throw usage(
      "A command with a terminal needs a terminal here, too.",
      "Without one: svc sessions exec <id> -- <command>",
    );
  const terminal = openRawTerminal();
  try {
    const body = { command, tty: true, ...terminal.size };
    const started = await api.call<StartedExec>({ path: `${path}/exec`, body });
    const onClient = (client: ExecClient) => terminal.follow(client);
    return await attach(api, started, { ...endsOf(context, "\r\n"), stdin: terminal.input, onClient });
  } finally {
    terminal.close();
  }
}

/** @param lineEnd what ends a line of svc's own */
function endsOf({ system, out }: Context, lineEnd = "\n"): Omit<Ends, "stdin"> {
  return {
    stdout: (bytes) => system.stdout.write(bytes),
    stderr: (bytes) => system.stderr.write(bytes),
    note: (text) =>
      void (out.quiet || system.stderr.write(`${lineEnd === "\n" ? "" : lineEnd}svc: ${text}${lineEnd}`)),
  };
}

/** Passes Ctrl-C and SIGTERM on to the command. The second ends it, and the third svc. */
function interruptsOf() {
  let client: ExecClient | null = null;
  let count = 0;
  const pass = (signal: "INT" | "TERM") => () => {
    count++;
    if (count === 1) client?.signal(signal);
    else if (count === 2) client?.end();
    else process.exit(130);
  };
  const [onInterrupt, onTerminate] = [pass("INT"), pass("TERM")];
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  return {
    follow(followed: ExecClient) {
      client = followed;
    },
    stop() {
      process.off("SIGINT", onInterrupt);
      process.off("SIGTERM", onTerminate);
    },
  };
}
