import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { Terminal } from "@xterm/headless";
import { cliEnv, makeHome, type RunOptions, SVC } from "./cli-run.ts";

/** A terminal without a window: what was written to it, and what it shows. */
export interface ShownScreen {
  write(bytes: string | Uint8Array): void;
  resize(columns: number, rows: number): void;
  /** Every line from the first that was ever written, a wrapped one in one piece. */
  lines(): Promise<string[]>;
  /** The line that the cursor is in, up to it. */
  beforeCursor(): Promise<string>;
  /** What the program made of the window's title, and of its bell. */
  readonly titles: string[];
  readonly bells: number;
  /** Whether the program wants marks around pastes. */
  readonly marksPastes: boolean;
}

export function openScreen(columns = 80, rows = 24): ShownScreen {
  const terminal = new Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 });
  terminal.loadAddon(new UnicodeGraphemesAddon());
  const titles: string[] = [];
  let bells = 0;
  terminal.onTitleChange((title) => titles.push(title));
  terminal.onBell(() => bells++);
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
  };
}

export interface ScreenRun
  extends Pick<ShownScreen, "lines" | "beforeCursor" | "titles" | "bells" | "marksPastes"> {
  /** Waits until a line that is shown holds this. */
  shows(text: string | RegExp): Promise<void>;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | number | null }>;
}

/** How long a chat may take on a machine that has other things to do. */
const SHOWN_WITHIN_MS = 20_000;
const RUN_MS = 60_000;

/** Runs `svc` on a pseudo-terminal whose screen can be looked at. */
export const svcOnScreen = (args: readonly string[], options: RunOptions = {}): ScreenRun =>
  onScreen([...SVC, ...args], options);

/** The same with any command. */
export function onScreen(command: string[], options: RunOptions = {}): ScreenRun {
  const home = options.home ?? makeHome();
  const [cols, rows] = [80, 24];
  const screen = openScreen(cols, rows);
  const child = Bun.spawn(command, {
    cwd: options.cwd ?? home.cwd,
    env: cliEnv(home.home, options.env),
    terminal: { cols, rows, data: (_, bytes) => screen.write(bytes) },
    timeout: RUN_MS,
  });
  const exited = child.exited.then(async () => {
    await Bun.sleep(20);
    child.terminal?.close();
    return { code: child.exitCode, signal: child.signalCode };
  });
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
    async shows(text) {
      const deadline = Date.now() + SHOWN_WITHIN_MS;
      for (;;) {
        const shown = (await screen.lines()).join("\n");
        if (typeof text === "string" ? shown.includes(text) : text.test(shown)) return;
        if (Date.now() > deadline) throw new Error(`the terminal never showed ${text}; it shows:\n${shown}`);
        await Bun.sleep(15);
      }
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
