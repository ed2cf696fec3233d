type Unit = "ms" | "s" | "kB/s" | "MB/s" | "requests/s" | "commands/s" | "requests" | "nodes" | "MB";

/** The limit of a ratio. */
export type Bar = { atMost: number } | { atLeast: number };

export interface Ratio {
  what: string;
  unit: Unit;
  ours: number;
  /** The figure that ours is divided by, and its name. */
  peer: readonly [name: string, value: number];
  bar?: Bar;
}

const WHAT_WIDTH = 58;

interface Options {
  smoke: boolean;
  /** Writes a line; default: to standard output. */
  write?: (line: string) => void;
}

/** Prints each figure beside that of a peer, as a ratio, and counts the bars that do not hold. */
export class Report {
  /** Whether benchmarks run with minimal amounts, to check that they work: bars are not checked. */
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
      ...(bar ? this.judge(what, ratio, bar) : []),
    ]);
  }

  skip(what: string, why: string): void {
    this.skipped.push(what);
    this.print(what, [`SKIPPED: ${why}`]);
  }

  summary(): string {
    const lines = this.smoke
      ? ["A smoke run: its figures are not measurements."]
      : [`${this.bars - this.broken.length} of ${this.bars} bars hold.`];
    if (this.broken.length > 0) lines.push(`Do not hold: ${this.broken.join("; ")}.`);
    if (this.skipped.length > 0) lines.push(`Skipped: ${this.skipped.join("; ")}.`);
    return lines.join("\n");
  }

  private judge(what: string, value: number, bar: Bar): string[] {
    if (this.smoke) return [];
    this.bars++;
    const holds = "atMost" in bar ? value <= bar.atMost : value >= bar.atLeast;
    if (!holds) this.broken.push(what);
    const limit = "atMost" in bar ? `≤ ${bar.atMost}` : `≥ ${bar.atLeast}`;
    return [`bar ${limit}×`, holds ? "holds" : "DOES NOT HOLD"];
  }

  private print(what: string, fields: string[]): void {
    this.write([what.padEnd(WHAT_WIDTH), ...fields].join("   "));
  }
}

/** @throws Error for NaN: the output that a benchmark parses has changed */
function number(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`a figure is not a number: ${value}`);
  return value.toFixed(value < 10 ? 2 : value < 1000 ? 1 : 0);
}
