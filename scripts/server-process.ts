import { join } from "node:path";
import { DIST } from "./binaries.ts";

/** A terminal sends Ctrl-C to the server too, and npm passes it on once more: one wish, several signals. */
const SAME_WISH_MS = 1_000;
/** By then a server that had the signal itself has closed its port. */
const NOTICE_MS = 200;
/** The server's line to whoever starts it without users. */
const FIRST_USER = / Create the first one with this link, .*: \S+$/;

export interface ServerProcess {
  /** Where it listens; null when it ended before it did. */
  listening: Promise<string | null>;
  /** The exit status; 0 after a signal asked for the end. */
  exited: Promise<number>;
}

/**
 * Starts `dist/svc-api` with the environment as it is and `settings` on top, quiet unless a log level is asked for. Signals to this process
 * end the server the orderly way; a second one, a while later, ends it at once.
 */
export function startServer(settings: Record<string, string>): ServerProcess {
  let wishedAt: number | null = null;
  let url: string | null = null;
  let child: Bun.Subprocess<"ignore", "inherit", "pipe">;
  // before it is started: a signal in between would leave it behind
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, async () => {
      if (wishedAt === null) {
        wishedAt = Date.now();
        await Bun.sleep(NOTICE_MS);
        if (url !== null && !(await answers(url))) return;
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
  const { promise: listening, resolve } = Promise.withResolvers<string | null>();
  const errorsRead = eachLine(child.stderr, (line) => {
    const found = / listens on (\S+)$/.exec(line)?.[1];
    // `npm start` makes the first user itself, and prints a link of its own
    if (FIRST_USER.test(line)) return;
    if (found === undefined || url !== null) return void process.stderr.write(`${line}\n`);
    url = found;
    resolve(url);
  });
  const exited = Promise.all([child.exited, errorsRead]).then(([code]) => {
    resolve(null);
    return wishedAt === null ? code : 0;
  });
  return { listening, exited };
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/v1/health`, { signal: AbortSignal.timeout(NOTICE_MS) }).then(
    () => true,
    () => false,
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
