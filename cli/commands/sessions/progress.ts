import type { LogLine } from "../../../src/contract/session.ts";
import type { Context } from "../../context.ts";
import { type Paint, painter } from "../../output.ts";
import type { System } from "../../system.ts";
import { fit } from "../../table-print.ts";
import { lines, logText, oneLine } from "../../text.ts";

/** Shows the progress of a wait, on stderr. */
export interface Progress {
  /** Starts a step; the step before it has succeeded. Without a name it leaves no line. */
  step(name: string, detail?: string): void;
  line(line: LogLine): void;
  /** Prints a notice. */
  notice(text: string): void;
  end(how: Ending): Promise<void>;
  /** Whether the log's lines stay on the screen. */
  readonly keepsLines: boolean;
}

/** The result of the current step; `left`: the wait ended before it. */
type Ending = "worked" | "failed" | "left";

/** Animated on a terminal, plain lines elsewhere, nothing with --quiet and --json. */
export function makeProgress(context: Context): Progress {
  const { system, out } = context;
  if (out.quiet || out.data.json) return SILENT;
  const dull = context.sandbox || system.env["TERM"] === "dumb" || Boolean(system.env["CI"]);
  return system.stderr.isTTY && !dull
    ? new LiveProgress(system, painter(out.colour(system.stderr)))
    : new PlainProgress(system);
}

const SILENT: Progress = {
  keepsLines: false,
  step() {},
  line() {},
  notice() {},
  async end() {},
};

/** Writes in order. A failed write to stderr is ignored. */
class Writer {
  readonly #system: System;
  #written: Promise<void> = Promise.resolve();

  constructor(system: System) {
    this.#system = system;
  }

  write(text: string): void {
    this.#written = this.#written.then(() => this.#system.stderr.write(text)).catch(() => {});
  }

  get done(): Promise<void> {
    return this.#written;
  }
}

/** For logs of other programs: append-only. */
class PlainProgress implements Progress {
  readonly keepsLines = true;
  readonly #writer: Writer;
  #step = "";

  constructor(system: System) {
    this.#writer = new Writer(system);
  }

  step(name: string, detail = ""): void {
    if (name === this.#step || name === "") return;
    this.#step = name;
    this.#writer.write(`${oneLine(name)}${detail && `: ${oneLine(detail)}`}\n`);
  }

  line({ source, text }: LogLine): void {
    this.#writer.write(`  ${oneLine(source)} | ${logText(text)}\n`);
  }

  notice(text: string): void {
    this.#writer.write(`${lines(text)}\n`);
  }

  end(): Promise<void> {
    return this.#writer.done;
  }
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
/** Shorter durations are not shown. */
const SHORT = 1;

/** One line per step; the current one is animated, with its duration and the last line of the log. */
class LiveProgress implements Progress {
  readonly keepsLines = false;
  readonly #system: System;
  readonly #paint: Paint;
  readonly #writer: Writer;
  readonly #timer: Timer;
  #step: { name: string; detail: string; startedAt: number } | undefined;
  #last = "";
  #frame = 0;

  constructor(system: System, paint: Paint) {
    this.#system = system;
    this.#paint = paint;
    this.#writer = new Writer(system);
    this.#timer = setInterval(() => this.#draw(), FRAME_MS);
  }

  step(name: string, detail = ""): void {
    if (this.#step?.name === name) {
      // its place in a queue, or what it waits for
      if (this.#step.detail !== detail) this.#last = "";
      this.#step.detail = detail;
      return;
    }
    this.#settle("worked");
    this.#step = { name, detail, startedAt: this.#system.now() };
    this.#last = "";
    this.#draw();
  }

  line({ text }: LogLine): void {
    this.#last = logText(text);
  }

  notice(text: string): void {
    this.#writer.write(`\r\x1b[K${lines(text)}\n`);
    this.#draw();
  }

  async end(how: Ending): Promise<void> {
    clearInterval(this.#timer);
    this.#settle(how);
    await this.#writer.done;
  }

  #draw(): void {
    if (this.#step === undefined) return;
    const { name, detail, startedAt } = this.#step;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const head = `${FRAMES[this.#frame]}${name && ` ${oneLine(name)}`}${this.#seconds(startedAt)}`;
    // A wrapped line cannot be redrawn.
    const room = this.#system.stderr.columns - Bun.stringWidth(head) - 3;
    const tail = fit(oneLine(this.#last === "" ? detail : this.#last), room, true);
    this.#writer.write(`\r\x1b[K${this.#paint.cyan(head)}  ${this.#paint.dim(tail)}`);
  }

  #settle(how: Ending): void {
    if (this.#step === undefined) return;
    const { name, startedAt } = this.#step;
    const mark = how === "worked" ? this.#paint.green("✓") : this.#paint.red("✗");
    const line = `${mark} ${oneLine(name)}${this.#paint.dim(this.#seconds(startedAt))}\n`;
    this.#writer.write(`\r\x1b[K${name === "" || how === "left" ? "" : line}`);
    this.#step = undefined;
  }

  #seconds(startedAt: number): string {
    const seconds = (this.#system.now() - startedAt) / 1000;
    return seconds < SHORT ? "" : ` ${Math.floor(seconds)}s`;
  }
}
