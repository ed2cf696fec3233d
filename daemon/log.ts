/** The sandbox's log on standard output, with lines of the daemon and of the runtime. */
export interface Log {
  /** Logs a line of the daemon. It must not contain credentials. */
  info(text: string): void;
  /** Logs a line of the runtime. */
  runtime(line: string): void;
}

/** The log of a session, with lines of its setup command. */
export interface SetupLog extends Log {
  setup(line: string): void;
}

/** The log of a deployment or a check, with lines of the app's build, of the app, or of the check. */
export interface AppLog extends Log {
  build(line: string): void;
  check(line: string): void;
  app(line: string): void;
}

/** Lines that are buffered while no process reads the output; beyond that, lines are dropped. */
const BUFFER_MAX_BYTES = 1024 * 1024;
/** Longer lines are cut off, since logs are stored. */
const LINE_MAX = 4096;

/** Each line is `<ISO time> <agent|runtime|setup|build|app|check> <text>`. */
export function createLog(
  write: (text: string, done: () => void) => void = toStandardOutput,
): AppLog & SetupLog {
  let waiting = 0;
  let dropped = 0;

  return {
    info: (text) => put("agent", text),
    runtime: (line) => put("runtime", line),
    setup: (line) => put("setup", line),
    build: (line) => put("build", line),
    app: (line) => put("app", line),
    check: (line) => put("check", line),
  };

  function put(source: "agent" | "runtime" | "setup" | "build" | "app" | "check", text: string): void {
    if (waiting > BUFFER_MAX_BYTES) {
      dropped++;
      return;
    }
    if (dropped > 0) {
      const lines = dropped;
      dropped = 0;
      put("agent", `${lines} lines were dropped: the output was not read`);
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
