/** The sandbox's log: lines of the daemon's and of the runtime's, on standard output. */
export interface Log {
  /** One line of the daemon's own. No credential goes in. */
  info(text: string): void;
  /** A line of the runtime's. */
  runtime(line: string): void;
}

/** The log of a deployment: also with lines of the app's build, and of the app itself. */
export interface AppLog extends Log {
  build(line: string): void;
  app(line: string): void;
}

/** Lines that wait to be written when nobody reads; past it they are dropped, so that memory has a bound. */
const WAITING_MAX_BYTES = 1024 * 1024;
/** A line's end is cut off past this: nobody reads it, and someone keeps it. */
const LINE_MAX = 4096;

/** Each line is `<ISO time> <agent|runtime|build|app> <text>`. */
export function createLog(write: (text: string, done: () => void) => void = toStandardOutput): AppLog {
  let waiting = 0;
  let dropped = 0;

  return {
    info: (text) => put("agent", text),
    runtime: (line) => put("runtime", line),
    build: (line) => put("build", line),
    app: (line) => put("app", line),
  };

  function put(source: "agent" | "runtime" | "build" | "app", text: string): void {
    if (waiting > WAITING_MAX_BYTES) {
      dropped++;
      return;
    }
    if (dropped > 0) {
      const lines = dropped;
      dropped = 0;
      put("agent", `${lines} lines were dropped: nobody read them`);
    }
    const line = `${new Date().toISOString()} ${source} ${oneLine(text)}\n`;
    waiting += line.length;
    write(line, () => {
      waiting -= line.length;
    });
  }
}

function oneLine(text: string): string {
  const line = text.replace(/[^\P{Cc}\t]+/gu, " ").trimEnd();
  return line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)} …` : line;
}

function toStandardOutput(text: string, done: () => void): void {
  process.stdout.write(text, () => done());
}
