import { emitKeypressEvents } from "node:readline";
import type { System } from "../system.ts";
import { type Key, Keyboard } from "./keys.ts";
import type { Screen, Terminal } from "./screen.ts";

/** The terminal as a chat uses it: keys one by one, and marks around what is pasted. */
export interface ChatTerminal extends Terminal {
  onKey(handle: (key: Key) => void): void;
  onResize(handle: () => void): void;
  /** The terminal has gone. */
  onEnd(handle: () => void): void;
  /** Gives the terminal back to the shell until it is continued. */
  suspend(screen: Screen): Promise<void>;
  /** As it was before. */
  close(): void;
}

const PASTES_MARKED = "\x1b[?2004h";
const PASTES_BARE = "\x1b[?2004l";
/** A process that runs on after this has not been stopped. */
const NOT_STOPPED_MS = 100;
/** Where nobody knows. */
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

  const take = () => {
    stdin.setRawMode(true);
    process.stdout.write(PASTES_MARKED);
  };
  const give = () => {
    process.stdout.write(PASTES_BARE);
    stdin.setRawMode(false);
  };
  emitKeypressEvents(stdin);
  take();
  stdin.resume();
  // ended by others, it leaves the terminal as it was
  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    const end = () => {
      give();
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
      // asked each time: the signal that tells of a change comes later than the change
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
    async suspend(screen) {
      // there is no such thing elsewhere
      if (process.platform === "win32") return;
      await screen.close();
      give();
      let isBack = false;
      const back = () => {
        if (isBack) return;
        isBack = true;
        take();
        screen.open();
      };
      process.once("SIGCONT", back);
      process.kill(process.pid, "SIGTSTP");
      // where no shell could continue it, it is not stopped
      setTimeout(back, NOT_STOPPED_MS);
    },
    close() {
      for (const each of undo) each();
      give();
      stdin.pause();
    },
  };
}
