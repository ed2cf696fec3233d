import type { PseudoTtyInfo, ServerChannel, Session } from "ssh2";
import { EXEC_SIGNALS, isSize } from "../../src/contract/exec-stream.ts";
import { type Program, type Start, shellOf } from "../exec/program.ts";
import { runInChannel } from "./run-in-channel.ts";
import { serveSftp } from "./sftp.ts";

type Terminal = NonNullable<Start["terminal"]>;

/** The size if the client's terminal does not report one. */
const SIZE = { cols: 80, rows: 24 } as const;
/** A type of terminal, as terminfo(5) names it. */
const TERM = /^[A-Za-z0-9][A-Za-z0-9+._-]{0,63}$/;
/** A name that a program's environment can have, and how many a client may set. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const VARIABLES_MAX = 100;
const VALUE_MAX = 32 * 1024;

/** Serves a session of an SSH connection (RFC 4254, 6): one program, with pipes or a terminal, or one client of SFTP. */
export function serveSession(session: Session): Session {
  let terminal: Terminal | null = null;
  const variables = new Map<string, string>();
  let program: Program | null = null;

  session.on("pty", (accept, _, info) => {
    terminal = { ...sizeOf(info), ...(TERM.test(info.term) && { term: info.term }) };
    accept?.();
  });
  session.on("env", (accept, reject, { key, val }) => {
    const isValid = VARIABLE.test(key) && val.length <= VALUE_MAX && variables.size < VARIABLES_MAX;
    if (isValid) variables.set(key, val);
    (isValid ? accept : reject)?.();
  });
  session.on("window-change", (accept, _, info) => {
    const { cols, rows } = sizeOf(info);
    program?.resize(cols, rows);
    accept?.();
  });
  session.on("signal", (accept, reject, { name }) => {
    const signal = EXEC_SIGNALS.find((each) => each === name);
    if (signal) void program?.signal(signal);
    (signal ? accept : reject)?.();
  });
  session.on("shell", (accept) => {
    // without a terminal a shell reads commands from its input, and prints no prompt
    run(accept(), terminal ? [] : [shellOf(process.env)]);
  });
  session.on("exec", (accept, _, { command }) => run(accept(), [shellOf(process.env), "-c", command]));
  session.on("sftp", (accept) => serveSftp(accept()));
  return session;

  function run(channel: ServerChannel, command: string[]): void {
    const environment = { ...ownEnvironment(), ...Object.fromEntries(variables) };
    program = runInChannel(channel, { command, terminal, environment });
  }
}

function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function sizeOf({ cols, rows }: Pick<PseudoTtyInfo, "cols" | "rows">): Pick<Terminal, "cols" | "rows"> {
  return { cols: isSize(cols) ? cols : SIZE.cols, rows: isSize(rows) ? rows : SIZE.rows };
}
