type Unit = "ms" | "s" | "MB" | "MB/s" | "requests/s" | "commands/s" | "listings" | "requests";

/** What a ratio or a figure has to be. */
export type Bar = { atMost: number } | { atLeast: number };

interface Ratio {
  what: string;
  unit: Unit;
  ours: number;
  /** What ours is divided by, and its name. */
  peer: readonly [name: string, value: number];
  bar?: Bar;
}

interface Figure {
  what: string;
  unit: Unit;
  ours: number;
  bar?: Bar;
}

const WHAT_WIDTH = 58;

interface Options {
  smoke: boolean;
  /** Takes a line; standard output unless it is given. */
  write?: (line: string) => void;
}

/** Writes each figure as it comes, and counts the bars that do not hold. */
export class Report {
  /** The benches run for a moment each, to show that they still do: their figures mean nothing, and no bar is judged. */
  readonly smoke: boolean;
  private bars = 0;
  private readonly broken: string[] = [];
  private readonly skipped: string[] = [];
  private readonly write: (line: string) => void;

  constructor({ smoke, write = (line) => process.stdout.write(`${line}\n`) }: Options) {
    this.smoke = smoke;
    this.write = write;
  }

  ratio({ what, unit, ours, peer: [name, value], bar }: Ratio): void {
    const ratio = ours / value;
    this.print(what, [
      `ours ${number(ours)} ${unit}`,
      `${name} ${number(value)} ${unit}`,
      `${ratio.toFixed(2)}×`,
      ...(bar ? this.judge(what, ratio, bar, "×") : []),
    ]);
  }

  figure({ what, unit, ours, bar }: Figure): void {
    this.print(what, [
      `ours ${number(ours)} ${unit}`,
      ...(bar ? this.judge(what, ours, bar, ` ${unit}`) : []),
    ]);
  }

  skip(what: string, why: string): void {
    this.skipped.push(what);
    this.print(what, [`SKIPPED: ${why}`]);
  }

  summary(): string {
    const lines = this.smoke
      ? ["A smoke run: its figures mean nothing."]
      : [`${this.bars - this.broken.length} of ${this.bars} bars hold.`];
    if (this.broken.length > 0) lines.push(`Do not hold: ${this.broken.join("; ")}.`);
    if (this.skipped.length > 0) lines.push(`Skipped: ${this.skipped.join("; ")}.`);
    return lines.join("\n");
  }

  private judge(what: string, value: number, bar: Bar, unit: string): string[] {
    if (this.smoke) return [];
    this.bars++;
    const holds = "atMost" in bar ? value <= bar.atMost : value >= bar.atLeast;
    if (!holds) this.broken.push(what);
    const limit = "atMost" in bar ? `≤ ${bar.atMost}` : `≥ ${bar.atLeast}`;
    return [`bar ${limit}${unit}`, holds ? "holds" : "DOES NOT HOLD"];
  }

  private print(what: string, fields: string[]): void {
    this.write([what.padEnd(WHAT_WIDTH), ...fields].join("   "));
  }
}

/** @throws Error for what is no number: the bench has read it from something that says it in another way now */
function number(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`a figure is ${value}`);
  return value.toFixed(value < 10 ? 2 : value < 1000 ? 1 : 0);
}
