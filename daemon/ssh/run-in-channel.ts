import type { Writable } from "node:stream";
import type { ServerChannel } from "ssh2";
import { Output } from "../exec/output.ts";
import { type Program, type Sink, type Start, startProgram, untilSilent } from "../exec/program.ts";
import { createChildren } from "../process/children.ts";

/** For the last bytes of processes that a program has left behind. */
const DRAIN_MS = 1_000;

/** The programs of this connection. This process is the agent's user already, inside its walls. */
const children = createChildren();
const running = new Set<Program>();

/** Runs a program with a channel as its input and output, and reports its exit status to the client. */
export function runInChannel(channel: ServerChannel, start: Start): Program {
  const closed = Promise.withResolvers<void>();
  channel.once("close", closed.resolve).on("error", () => {});
  const { sink, state, written } = start.terminal
    ? terminalSink(channel)
    : pipesSink(channel, closed.promise);
  const settings = { user: null, wrap: [], workspace: process.cwd() };
  const program = startProgram({ settings, children }, start, sink);
  running.add(program);
  feed(channel, program);
  void closed.promise.then(() => program.end());
  void program.exited.then(async ({ code, signal }) => {
    const whole = untilSilent(program, state, DRAIN_MS).then(written);
    await Promise.race([whole, closed.promise]);
    program.close();
    running.delete(program);
    if (signal === null) channel.exit(code ?? 1);
    else channel.exit(signal.replace(/^SIG/, ""), false, "");
    channel.end();
  });
  return program;
}

/** Ends all programs, since the client has gone. */
export async function endPrograms(): Promise<void> {
  await Promise.all([...running].map((program) => program.end()));
}

interface Receiver {
  sink: Sink;
  state(): { bytes: number; isWaiting: boolean };
  /** Resolves when the client has been sent all output. */
  written(): Promise<void>;
}

/** A program with pipes waits for its client. */
function pipesSink(channel: ServerChannel, closed: Promise<void>): Receiver {
  let [bytes, waiting] = [0, 0];
  const write = (to: Writable) => async (piece: Uint8Array) => {
    bytes += piece.length;
    waiting++;
    const { promise, resolve } = Promise.withResolvers<void>();
    to.write(piece, () => resolve());
    await Promise.race([promise, closed]);
    waiting--;
  };
  const sink = { stdout: write(channel), stderr: write(channel.stderr) };
  // a program is silent only when its output is written
  return { sink, state: () => ({ bytes, isWaiting: waiting > 0 }), written: async () => {} };
}

/** A terminal does not wait: what scrolls by faster than the client reads is left out. */
function terminalSink(channel: ServerChannel): Receiver {
  const output = new Output(true);
  const { promise, resolve } = Promise.withResolvers<void>();
  let [isEnding, pending] = [false, 0];
  const pump = () => {
    for (const piece of output.take()) {
      const end = output.sent;
      pending++;
      channel.write(piece, () => {
        // what was left out behind the last piece counts as sent
        output.acknowledge(--pending === 0 ? output.sent : end);
        pump();
      });
    }
    if (isEnding && output.isAcknowledged) resolve();
  };
  const stdout = (bytes: Uint8Array) => {
    output.push(bytes);
    pump();
  };
  const state = () => ({ bytes: output.end, isWaiting: !output.isAcknowledged });
  const written = () => {
    isEnding = true;
    pump();
    return promise;
  };
  return { sink: { stdout, stderr: stdout }, state, written };
}

/** Passes the client's input on, no faster than the program reads it. */
function feed(channel: ServerChannel, program: Program): void {
  channel.on("data", (bytes: Buffer) => {
    channel.pause();
    void program.write(bytes).then(() => channel.resume());
  });
  channel.on("end", () => program.endInput());
}
