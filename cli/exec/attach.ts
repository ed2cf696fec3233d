import type { StartedExec } from "../../src/contract/exec.ts";
import { ExecClient, type ExecExit, ExecLost, ExecReplaced } from "../../src/conversation/exec.ts";
import type { Api } from "../api.ts";
import { CliError, ProgramExit } from "../failure.ts";

/** What a command in a sandbox is connected to. */
export interface Ends {
  /** Null: it gets no input. */
  stdin: AsyncIterable<Uint8Array> | null;
  stdout(bytes: Uint8Array): Promise<void>;
  stderr(bytes: Uint8Array): Promise<void>;
  /** Tells the user about the connection. */
  note(text: string): void;
  /** The client has been made: for signals and sizes. */
  onClient?(client: ExecClient): void;
}

/**
 * Connects a command that was started in a sandbox, until it ends.
 * @param api of the host that started it
 * @throws CliError network, and what the host answers
 */
export async function attach(api: Api, { path }: Pick<StartedExec, "path">, ends: Ends): Promise<ExecExit> {
  const { url, token } = api.target;
  // the host's URL ends with it
  const below = path.replace(/^\/v1/, "");
  const address = `${url.replace(/^http/, "ws")}${below}`;
  let isLost = false;
  const client = new ExecClient({
    connect: (query) => openSocket(`${address}?${query}`, { Authorization: `Bearer ${token ?? ""}` }),
    refusal: () => refusalOf(api, below),
    stdout: ends.stdout,
    stderr: ends.stderr,
    onLost() {
      if (!isLost) ends.note("The connection was lost. Reconnecting…");
      isLost = true;
    },
    onAttached() {
      if (isLost) ends.note("Reconnected.");
      isLost = false;
    },
    onSkipped: () => ends.note("Some output was skipped: the connection is too slow."),
  });
  ends.onClient?.(client);
  if (ends.stdin) void feed(ends.stdin, client);
  try {
    return await client.finished;
  } catch (error) {
    if (error instanceof ExecLost || error instanceof ExecReplaced)
      throw new CliError("network", error.message);
    throw error;
  }
}

/** Bun's WebSocket takes headers, which the types, a browser's, do not know. */
function openSocket(url: string, headers: Record<string, string>): WebSocket {
  return Reflect.construct(WebSocket, [url, { headers }]);
}

/** The exit status of svc for the end of a command, as a shell has it. @throws ProgramExit unless it is 0 */
export function exitAs({ code, signal }: ExecExit): void {
  const status = code ?? (signal === null ? 1 : 128 + (SIGNALS[signal] ?? 0));
  if (status !== 0) throw new ProgramExit(status);
}

/** signal(7) */
const SIGNALS: Readonly<Record<string, number>> = {
  ...{
    SIGHUP: 1,
    SIGINT: 2,
    SIGQUIT: 3,
    SIGILL: 4,
    SIGABRT: 6,
    SIGFPE: 8,
    SIGKILL: 9,
    SIGUSR1: 10,
    SIGSEGV: 11,
  },
  ...{ SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15 },
};

async function feed(input: AsyncIterable<Uint8Array>, client: ExecClient): Promise<void> {
  try {
    for await (const bytes of input) await client.write(bytes);
  } catch {
    // it was closed
  }
  client.endInput();
}

/** Asks by HTTP, since a WebSocket does not show why it was refused. */
async function refusalOf(api: Api, path: string): Promise<Error | null> {
  try {
    const { response } = await api.open({ path, seconds: 10 });
    await response.body?.cancel();
  } catch (error) {
    const isFinal = error instanceof CliError && !TRANSIENT.has(error.code);
    return isFinal ? error : null;
  }
  return null;
}

/** The server restarts, the network is away, or the command is there and wants a WebSocket. */
const TRANSIENT: ReadonlySet<string> = new Set([
  "http_426",
  "network",
  "timeout",
  "unavailable",
  "unexpected_response",
  "internal",
  "rate_limited",
]);
