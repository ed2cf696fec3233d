import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { Terminal } from "@xterm/headless";
import { type RunOptions, SVC, spawnOnTerminal, type TerminalRun } from "./cli-run.ts";
import { until } from "./until.ts";

/** A headless terminal: its input and its screen. */
export interface ShownScreen {
  write(bytes: string | Uint8Array): void;
  resize(columns: number, rows: number): void;
  /** All lines from the first one, wrapped lines joined. */
  lines(): Promise<string[]>;
  /** The line of the cursor, up to the cursor. */
  beforeCursor(): Promise<string>;
  /** The program's changes of the window's title, and its bells. */
  readonly titles: string[];
  readonly bells: number;
  /** Whether bracketed paste is on, and how often the program turned it on: when it takes the terminal. */
  readonly marksPastes: boolean;
  readonly pasteMarks: number;
}

export function openScreen(columns = 80, rows = 24): ShownScreen {
  const terminal = new Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 });
  terminal.loadAddon(new UnicodeGraphemesAddon());
  const titles: string[] = [];
  let bells = 0;
  let pasteMarks = 0;
  terminal.onTitleChange((title) => titles.push(title));
  terminal.onBell(() => bells++);
  terminal.parser.registerCsiHandler({ prefix: "?", final: "h" }, ([mode]) => {
    if (mode === 2004) pasteMarks++;
    return false;
  });
  const settled = () => new Promise<void>((done) => terminal.write("", done));

  return {
    write: (bytes) => terminal.write(bytes),
    resize: (toColumns, toRows) => terminal.resize(toColumns, toRows),
    async lines() {
      await settled();
      const { active } = terminal.buffer;
      const lines: string[] = [];
      for (let row = 0; row < active.length; row++) {
        const line = active.getLine(row);
        const isLast = active.getLine(row + 1)?.isWrapped !== true;
        // a wide character that did not fit has left the last cell empty
        const isGap =
          !isLast &&
          line?.getCell(line.length - 1)?.getChars() === "" &&
          line.getCell(line.length - 1)?.getWidth() === 1;
        const text = (line?.translateToString(isLast) ?? "").slice(0, isGap ? -1 : undefined);
        if (line?.isWrapped && lines.length > 0) lines.push(`${lines.pop()}${text}`);
        else lines.push(text);
      }
      while (lines.at(-1) === "") lines.pop();
      return lines;
    },
    async beforeCursor() {
      await settled();
      const { active } = terminal.buffer;
      const line = active.getLine(active.baseY + active.cursorY);
      return line?.translateToString(false, 0, active.cursorX) ?? "";
    },
    titles,
    get bells() {
      return bells;
    },
    get marksPastes() {
      return terminal.modes.bracketedPasteMode;
    },
    get pasteMarks() {
      return pasteMarks;
    },
  };
}

export interface ScreenRun
  extends Pick<ShownScreen, "lines" | "beforeCursor" | "titles" | "bells" | "marksPastes" | "pasteMarks">,
    Pick<TerminalRun, "type" | "exited"> {
  /** Waits until a visible line contains this. */
  shows(text: string | RegExp): Promise<void>;
  resize(columns: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
}

/** Runs `svc` on a pseudo-terminal with a readable screen. */
export const svcOnScreen = (args: readonly string[], options: RunOptions = {}): ScreenRun =>
  onScreen([...SVC, ...args], options);

/** The same with any command. */
export function onScreen(command: readonly string[], options: RunOptions = {}): ScreenRun {
  const screen = openScreen();
  const { child, exited } = spawnOnTerminal(command, options, [80, 24], screen.write);
  return {
    lines: screen.lines,
    beforeCursor: screen.beforeCursor,
    titles: screen.titles,
    get bells() {
      return screen.bells;
    },
    get marksPastes() {
      return screen.marksPastes;
    },
    get pasteMarks() {
      return screen.pasteMarks;
    },
    async shows(text) {
      let shown = "";
      await until(
        () => `the terminal shows ${text}; it shows:\n${shown}`,
        async () => {
          shown = (await screen.lines()).join("\n");
          return typeof text === "string" ? shown.includes(text) : text.test(shown);
        },
      );
    },
    type: (keys) => {
      child.terminal?.write(keys);
    },
    resize(columns, toRows) {
      screen.resize(columns, toRows);
      child.terminal?.resize(columns, toRows);
    },
    kill: (signal) => child.kill(signal),
    exited,
  };
}
