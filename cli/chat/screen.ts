import type { Sink } from "../system.ts";
import type { Draft } from "./editor.ts";
import { EMPTY } from "./editor.ts";
import { endOf, type Laid, layOut } from "./layout.ts";

/** Rows that what is typed may take. */
const DRAFT_ROWS = 10;
/** Characters of a line without an end, after which it is ended: it would have to be measured again at each word. */
const LINE_MAX = 8 * 1024;
const TAB = 8;

/** The size of the terminal, and where to write to it. */
export interface Terminal {
  readonly size: { columns: number; rows: number };
  write: Sink["write"];
}

/**
 * Output that grows, with a line of status and what is typed below it. Only what is below the output is ever drawn
 * again: the output belongs to the terminal, to wrap, to scroll and to copy.
 */
export class Screen {
  readonly #terminal: Terminal;
  /** What is to be written above, behind the open line. */
  #pending = "";
  /** The output's last line, as far as it has no end. */
  #line = "";
  #status = "";
  #mark = "> ";
  #draft: Draft = EMPTY;
  /** Rows from the first below the output to the cursor. */
  #above = 0;
  /** The open line when it was last drawn. */
  #open = "";
  /** What was drawn below it, for a terminal that changes its size. */
  #below: { columns: number; status: string; laid: Laid } | null = null;
  #writing: Promise<void> | null = null;
  #isDirty = false;
  #isClosed = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Whether the output stands at the beginning of a line. */
  get isAtStart(): boolean {
    return this.#line === "";
  }

  /** More output: safe already, with colours at most. */
  print(text: string): void {
    let rest = text;
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      this.#append(rest.slice(0, end));
      this.#pending += "\r\n";
      this.#line = "";
      rest = rest.slice(end + 1);
    }
    this.#append(rest);
    this.#touch();
  }

  /** @param status one line, safe already; empty for none */
  show(status: string, mark: string, draft: Draft): void {
    this.#status = status;
    this.#mark = mark;
    this.#draft = draft;
    this.#touch();
  }

  /** Draws once more: the terminal has another size. */
  resize(): void {
    this.#touch();
  }

  /** Clears the terminal; what was said is above. */
  clear(): void {
    this.#pending += `\x1b[2J\x1b[H${this.#line}`;
    this.#touch();
  }

  /** Takes the status and the draft away, and ends the output's line. */
  async close(): Promise<void> {
    await this.flushed();
    this.#isClosed = true;
    const end = this.#line === "" ? "" : "\r\n";
    await this.#terminal.write(`${this.#toOutput(this.#terminal.size.columns)}${end}`);
    this.#above = 0;
    this.#below = null;
    this.#line = "";
    this.#open = "";
  }

  /** Draws again after `close`. */
  open(): void {
    this.#isClosed = false;
    this.#touch();
  }

  async flushed(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  #append(text: string): void {
    if (text === "") return;
    const more = text.includes("\t") ? this.#untab(text) : text;
    this.#pending += more;
    this.#line += more;
    if (this.#line.length < LINE_MAX) return;
    this.#pending += "\r\n";
    this.#line = "";
  }

  /** Tabs as the spaces that they stand for here: their width is known then. */
  #untab(text: string): string {
    let line = this.#line;
    let out = "";
    for (const [index, piece] of text.split("\t").entries()) {
      const spaces = index === 0 ? "" : " ".repeat(TAB - (Bun.stringWidth(line) % TAB));
      line += spaces + piece;
      out += spaces + piece;
    }
    return out;
  }

  #touch(): void {
    this.#isDirty = true;
    if (this.#writing || this.#isClosed) return;
    this.#writing = this.#flush().finally(() => {
      this.#writing = null;
    });
  }

  /** One write at a time: a terminal that is slow, or stopped, is drawn less often. */
  async #flush(): Promise<void> {
    while (this.#isDirty && !this.#isClosed) {
      this.#isDirty = false;
      await this.#terminal.write(this.#draw());
    }
  }

  /**
   * A terminal that changes its size wraps what stands on it anew; some leave the cursor's own row alone. One row too few
   * leaves a trace of the draft, one too many would take output away.
   */
  #measure(columns: number): void {
    if (this.#below === null || this.#below.columns === columns) return;
    const { status, laid } = this.#below;
    const rowsOf = (line: string) => Math.max(1, Math.ceil(Bun.stringWidth(line) / columns));
    const lines = [...(status === "" ? [] : [status]), ...laid.rows.slice(0, laid.row)];
    this.#above = lines.reduce((sum, line) => sum + rowsOf(line), 0);
  }

  /** Takes away what is below the output, and goes to its end. */
  #toOutput(columns: number): string {
    this.#measure(columns);
    const below = `\r${this.#above > 0 ? `\x1b[${this.#above}A` : ""}\x1b[J`;
    if (this.#open === "") return below;
    const { width, last } = endOf(this.#open, columns);
    // at the edge the terminal waits with the wrap for the next character, which it does only for one just written
    const atEdge = width >= columns ? last : "";
    const column = width - Bun.stringWidth(atEdge);
    return `${below}\x1b[A${column > 0 ? `\x1b[${column}C` : ""}${atEdge}`;
  }

  #draw(): string {
    const { columns, rows } = this.#terminal.size;
    const room = Math.max(1, Math.min(DRAFT_ROWS, rows - 3));
    const laid = layOut(this.#draft, this.#mark, columns, room);
    const status = fitted(this.#status, columns - 1);
    const isOpen = this.#line !== "";
    const output = this.#pending + (isOpen ? "\r\n" : "");
    const below = [...(status === "" ? [] : [status]), ...laid.rows].join("\r\n");
    const up = laid.rows.length - 1 - laid.row;
    const back = `${up > 0 ? `\x1b[${up}A` : ""}\r${laid.column > 0 ? `\x1b[${laid.column}C` : ""}`;
    const drawn = `${this.#toOutput(columns)}${output}${below}${back}`;
    this.#pending = "";
    this.#open = this.#line;
    this.#below = { columns, status, laid };
    this.#above = (status === "" ? 0 : 1) + laid.row;
    return drawn;
  }
}

/** As much of a line as fits, with its colours ended. */
function fitted(line: string, columns: number): string {
  if (Bun.stringWidth(line) <= columns) return line;
  const plain = Bun.stripANSI(line);
  let text = "";
  let width = 1;
  for (const character of plain) {
    width += Bun.stringWidth(character);
    if (width > columns) break;
    text += character;
  }
  return `${text}…`;
}
