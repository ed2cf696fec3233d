import { emitKeypressEvents } from "node:readline";
import type { System } from "../system.ts";
import { type Key, Keyboard } from "./keys.ts";
import type { Screen, Terminal } from "./screen.ts";

/** A terminal in raw mode, with bracketed paste. */
export interface ChatTerminal extends Terminal {
  onKey(handle: (key: Key) => void): void;
  onResize(handle: () => void): void;
  /** The terminal was closed. */
  onEnd(handle: () => void): void;
  /** Suspends svc until the shell continues it. */
  suspend(screen: Screen): Promise<void>;
  /** Restores the terminal's previous mode. */
  close(): void;
}

const BRACKETED_PASTE_ON = "\x1b[?2004h";
const BRACKETED_PASTE_OFF = "\x1b[?2004l";
/** A process that still runs after this time was not stopped. */
const NOT_STOPPED_MS = 100;
/** The size if the terminal does not report one. */
const COLUMNS = 80;
const ROWS = 24;

export function openTerminal({ stdout }: Pick<System, "stdout">): ChatTerminal {
  const { stdin } = process;
  const keyboard = new Keyboard();
  const undo: (() => void)[] = [];
  const listen = (on: () => void, off: () => void) => {
    on();
    undo.push(off);
  };

  const enterRawMode = () => {
    stdin.setRawMode(true);
    process.stdout.write(BRACKETED_PASTE_ON);
  };
  const leaveRawMode = () => {
    process.stdout.write(BRACKETED_PASTE_OFF);
    stdin.setRawMode(false);
  };
  emitKeypressEvents(stdin);
  enterRawMode();
  stdin.resume();
  // a signal restores the terminal first
  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    const end = () => {
      leaveRawMode();
      process.off(signal, end);
      process.kill(process.pid, signal);
    };
    listen(
      () => process.on(signal, end),
      () => process.off(signal, end),
    );
  }

  return {
    get size() {
      // read each time: SIGWINCH arrives after the change
      const [columns, rows] = process.stdout.getWindowSize();
      return { columns: columns > 0 ? columns : COLUMNS, rows: rows > 0 ? rows : ROWS };
    },
    write: (chunk) => stdout.write(chunk),
    onKey(handle) {
      const press = (text: string | undefined, key: Parameters<Keyboard["read"]>[1]) =>
        handle(keyboard.read(text, key));
      listen(
        () => stdin.on("keypress", press),
        () => stdin.off("keypress", press),
      );
    },
    onResize(handle) {
      listen(
        () => process.stdout.on("resize", handle),
        () => process.stdout.off("resize", handle),
      );
    },
    onEnd(handle) {
      listen(
        () => stdin.on("end", handle),
        () => stdin.off("end", handle),
      );
    },
    suspend: (screen) => suspend(screen, enterRawMode, leaveRawMode),
    close() {
      for (const each of undo) each();
      leaveRawMode();
      stdin.pause();
    },
  };
}

/** Stops this process, as Ctrl-Z does, and draws the screen again once it continues. */
async function suspend(
  screen: Parameters<ChatTerminal["suspend"]>[0],
  enterRawMode: () => void,
  leaveRawMode: () => void,
): Promise<void> {
  // Windows has no job control
  if (process.platform === "win32") return;
  await screen.close();
  leaveRawMode();
  let isBack = false;
  const back = () => {
    if (isBack) return;
    isBack = true;
    enterRawMode();
    screen.open();
  };
  process.once("SIGCONT", back);
  process.kill(process.pid, "SIGTSTP");
  // without a job-control shell the process is not stopped
  setTimeout(back, NOT_STOPPED_MS);
}
