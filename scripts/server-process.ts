import { join } from "node:path";
import { DIST } from "./binaries.ts";

/** One Ctrl-C causes several signals: the terminal sends it to the server too, and npm forwards it. */
const SAME_WISH_MS = 1_000;
/** After this time a server that received the signal has closed its port. */
const NOTICE_MS = 200;
/** For a health check on a busy machine. */
const ANSWER_MS = 5_000;
/** The line that a server without users prints at its start. */
const FIRST_USER = / Create the first one with this link, .*: \S+$/;

export interface ServerProcess {
  /** The URL; null if the server exited before it listened. */
  listening: Promise<string | null>;
  /** The exit status; 0 after a signal. */
  exited: Promise<number>;
  /** Stops the server. A server is never left behind: it is also stopped when this process exits. */
  stop(): void;
  /** Whether a signal has stopped it. */
  stopping(): boolean;
}

/**
 * Starts `dist/svc-api` with the environment and `settings`, with few logs unless a log level is set. A signal to this process
 * stops the server gracefully; a second signal, after a while, kills it.
 */
export function startServer(settings: Record<string, string>): ServerProcess {
  let wishedAt: number | null = null;
  let url: string | null = null;
  let child: Bun.Subprocess<"ignore", "inherit", "pipe">;
  // before the start of the server, so that no signal is lost
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, async () => {
      if (wishedAt === null) {
        wishedAt = Date.now();
        await Bun.sleep(NOTICE_MS);
        if (url !== null && !(await isOpen(url))) return;
      } else if (Date.now() - wishedAt < SAME_WISH_MS) return;
      child.kill("SIGTERM");
    });
  }
  child = Bun.spawn([join(DIST, "svc-api")], {
    env: { SVC_LOG_LEVEL: "warn", ...process.env, ...settings },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "pipe",
  });
  const stop = () => child.kill("SIGTERM");
  process.on("exit", stop);
  const { promise: listening, resolve } = Promise.withResolvers<string | null>();
  const errorsRead = eachLine(child.stderr, (line) => {
    const found = / listens on (\S+)$/.exec(line)?.[1];
    // `npm start` creates the first user and prints its own link
    if (FIRST_USER.test(line)) return;
    if (found === undefined || url !== null) return void process.stderr.write(`${line}\n`);
    url = found;
    resolve(url);
  });
  const exited = Promise.all([child.exited, errorsRead]).then(([code]) => {
    resolve(null);
    return wishedAt === null ? code : 0;
  });
  return { listening, exited, stop, stopping: () => wishedAt !== null };
}

/** Whether the server's port is open. A server that does not answer in time has not closed it. */
async function isOpen(url: string): Promise<boolean> {
  return fetch(`${url}/v1/health`, { signal: AbortSignal.timeout(ANSWER_MS) }).then(
    () => true,
    (error: unknown) => error instanceof Error && error.name === "TimeoutError",
  );
}

async function eachLine(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  }
  if (rest !== "") take(rest);
}
