import type { LogLine } from "../../../src/contract/session.ts";
import type { Context } from "../../context.ts";
import { type Paint, painter } from "../../output.ts";
import type { System } from "../../system.ts";
import { fit } from "../../table-print.ts";
import { lines, logText, oneLine } from "../../text.ts";

/** What goes on while somebody waits, on stderr. */
export interface Progress {
  /** What is done now; what was done before it has worked. Without a name it is no step and leaves no line. */
  step(name: string, says?: string): void;
  line(line: LogLine): void;
  /** Something to know that is no step. */
  notice(text: string): void;
  end(how: Ending): Promise<void>;
  /** Whether the log's lines stay on the screen. */
  readonly keepsLines: boolean;
}

/** What becomes of what is done now; `left`: nobody waits for it any more. */
type Ending = "worked" | "failed" | "left";

/** Drawn on a terminal, one line a step or line of the log elsewhere, nothing with --quiet and --json. */
export function makeProgress(context: Context): Progress {
  const { system, out } = context;
  if (out.quiet || out.data.json) return SILENT;
  const dull = context.sandbox || system.env["TERM"] === "dumb" || Boolean(system.env["CI"]);
  return system.stderr.isTTY && !dull
    ? new Drawn(system, painter(out.colour(system.stderr)))
    : new Told(system);
}

const SILENT: Progress = {
  keepsLines: false,
  step() {},
  line() {},
  notice() {},
  async end() {},
};

/** Writes one after the other. A stderr that cannot be written is nobody's to learn of. */
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

/** For logs of other programs: what was written stays. */
class Told implements Progress {
  readonly keepsLines = true;
  readonly #writer: Writer;
  #step = "";

  constructor(system: System) {
    this.#writer = new Writer(system);
  }

  step(name: string, says = ""): void {
    if (name === this.#step || name === "") return;
    this.#step = name;
    this.#writer.write(`${oneLine(name)}${says && `: ${oneLine(says)}`}\n`);
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
/** Seconds that are not worth a number. */
const SHORT = 1;

/** One line a step, the last of them alive: what it does, for how long, and the last line of the log. */
class Drawn implements Progress {
  readonly keepsLines = false;
  readonly #system: System;
  readonly #paint: Paint;
  readonly #writer: Writer;
  readonly #timer: Timer;
  #step: { name: string; says: string; begun: number } | undefined;
  #last = "";
  #frame = 0;

  constructor(system: System, paint: Paint) {
    this.#system = system;
    this.#paint = paint;
    this.#writer = new Writer(system);
    this.#timer = setInterval(() => this.#draw(), FRAME_MS);
  }

  step(name: string, says = ""): void {
    if (this.#step?.name === name) return;
    this.#settle("worked");
    this.#step = { name, says, begun: this.#system.now() };
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
    const { name, says, begun } = this.#step;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const head = `${FRAMES[this.#frame]}${name && ` ${oneLine(name)}`}${this.#seconds(begun)}`;
    // A line that wraps could not be drawn over.
    const room = this.#system.stderr.columns - Bun.stringWidth(head) - 3;
    const tail = fit(oneLine(this.#last === "" ? says : this.#last), room, true);
    this.#writer.write(`\r\x1b[K${this.#paint.cyan(head)}  ${this.#paint.dim(tail)}`);
  }

  #settle(how: Ending): void {
    if (this.#step === undefined) return;
    const { name, begun } = this.#step;
    const mark = how === "worked" ? this.#paint.green("✓") : this.#paint.red("✗");
    const line = `${mark} ${oneLine(name)}${this.#paint.dim(this.#seconds(begun))}\n`;
    this.#writer.write(`\r\x1b[K${name === "" || how === "left" ? "" : line}`);
    this.#step = undefined;
  }

  #seconds(begun: number): string {
    const seconds = (this.#system.now() - begun) / 1000;
    return seconds < SHORT ? "" : ` ${Math.floor(seconds)}s`;
  }
}
