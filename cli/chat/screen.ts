import type { Sink } from "../system.ts";
import type { Draft } from "./editor.ts";
import { EMPTY } from "./editor.ts";
import { endOf, type Layout, layOutDraft } from "./layout.ts";

/** Rows of the draft. */
const DRAFT_ROWS = 10;
/** Characters after which an open line is ended, because the whole open line is measured at each write. */
const LINE_MAX = 8 * 1024;
const TAB = 8;

/** A terminal's size and output. */
export interface Terminal {
  readonly size: { columns: number; rows: number };
  write: Sink["write"];
}

/**
 * Append-only output, with a status line and the draft below it. Only the status line and the draft are redrawn: the output
 * is left to the terminal to wrap, scroll and copy.
 */
export class Screen {
  readonly #terminal: Terminal;
  /** Output that is not written yet. */
  #pending = "";
  /** The output's last line while it has no line feed. */
  #line = "";
  #status = "";
  #mark = "> ";
  #draft: Draft = EMPTY;
  /** Rows from the end of the output to the cursor. */
  #above = 0;
  /** The open line at the last draw. */
  #open = "";
  /** The rows drawn below the output, which are measured again after a resize. */
  #below: { columns: number; status: string; layout: Layout } | null = null;
  #writing: Promise<void> | null = null;
  #isDirty = false;
  #isClosed = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Whether the output ends with a line feed. */
  get isAtStart(): boolean {
    return this.#line === "";
  }

  /** Appends output. It must be sanitized already. */
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

  /** @param status one sanitized line; empty for none */
  show(status: string, mark: string, draft: Draft): void {
    this.#status = status;
    this.#mark = mark;
    this.#draft = draft;
    this.#touch();
  }

  /** Redraws after the terminal's size has changed. */
  resize(): void {
    this.#touch();
  }

  /** Clears the terminal; the output stays in its scrollback. */
  clear(): void {
    this.#pending += `\x1b[2J\x1b[H${this.#line}`;
    this.#touch();
  }

  /** Removes the status and the draft, and ends the output's line. */
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

  /** Redraws after `close`. */
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

  /** Expands tabs to spaces, whose width is known. */
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

  /** One write at a time: a slow or stopped terminal is drawn less often. */
  async #flush(): Promise<void> {
    while (this.#isDirty && !this.#isClosed) {
      this.#isDirty = false;
      await this.#terminal.write(this.#draw());
    }
  }

  /**
   * Updates `#above` after a resize, when the terminal has wrapped its rows again; some terminals do not wrap the cursor's row.
   * One row too few leaves a trace of the draft; one too many erases output.
   */
  #measure(columns: number): void {
    if (this.#below === null || this.#below.columns === columns) return;
    const { status, layout } = this.#below;
    const rowsOf = (line: string) => Math.max(1, Math.ceil(Bun.stringWidth(line) / columns));
    const lines = [...(status === "" ? [] : [status]), ...layout.rows.slice(0, layout.row)];
    this.#above = lines.reduce((sum, line) => sum + rowsOf(line), 0);
  }

  /** Erases the rows below the output, and moves to its end. */
  #toOutput(columns: number): string {
    this.#measure(columns);
    const below = `\r${this.#above > 0 ? `\x1b[${this.#above}A` : ""}\x1b[J`;
    if (this.#open === "") return below;
    const { width, last } = endOf(this.#open, columns);
    // a terminal delays the wrap at the right edge only right after a character was written there, so write it again
    const atEdge = width >= columns ? last : "";
    const column = width - Bun.stringWidth(atEdge);
    return `${below}\x1b[A${column > 0 ? `\x1b[${column}C` : ""}${atEdge}`;
  }

  #draw(): string {
    const { columns, rows } = this.#terminal.size;
    const rowsMax = Math.max(1, Math.min(DRAFT_ROWS, rows - 3));
    const layout = layOutDraft(this.#draft, this.#mark, columns, rowsMax);
    const status = fitted(this.#status, columns - 1);
    const isOpen = this.#line !== "";
    const output = this.#pending + (isOpen ? "\r\n" : "");
    const below = [...(status === "" ? [] : [status]), ...layout.rows].join("\r\n");
    const up = layout.rows.length - 1 - layout.row;
    const back = `${up > 0 ? `\x1b[${up}A` : ""}\r${layout.column > 0 ? `\x1b[${layout.column}C` : ""}`;
    const drawn = `${this.#toOutput(columns)}${output}${below}${back}`;
    this.#pending = "";
    this.#open = this.#line;
    this.#below = { columns, status, layout };
    this.#above = (status === "" ? 0 : 1) + layout.row;
    return drawn;
  }
}

/** Truncates a line to a width; a truncated line loses its colours. */
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
