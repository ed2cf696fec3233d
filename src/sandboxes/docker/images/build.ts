import type { ImageBuildOptions } from "dockerode";
import type { Pack } from "tar-stream";
import { SandboxError } from "../../provider.ts";
import { streamOf } from "../../tar.ts";
import { type Engine, EngineError } from "../engine.ts";

interface Build {
  /** The context, as a tar. */
  context: Pack;
  options: ImageBuildOptions;
}

/** Without output: some commands print nothing while they compile. */
const SILENT_MS = 20 * 60_000;
/** A large image with its downloads; a build that takes longer is stuck. */
const BUILD_LONGEST_MS = 2 * 60 * 60_000;
/** The most lines of a build in the log. */
const LINES_MAX = 5_000;
const LINE_MAX = 2_000;
/** Limit of one message of the engine, which is a short line of JSON. */
const MESSAGE_MAX_BYTES = 1024 * 1024;
/** The engine colors what a command writes to stderr. */
const COLORS = /\u001b\[[0-9;]*m/g;
/** Lines in the error of a failed build. */
const LAST_LINES = 12;

/**
 * Builds an image with the engine's legacy builder: BuildKit does not support a custom network.
 * @param name names the image in errors
 * @param log gets the build's output, line by line
 * @throws SandboxError with the last lines when it fails; the signal's reason
 */
export async function runBuild(
  engine: Engine,
  name: string,
  { context, options }: Build,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const output = createOutput(log);
  const fail = (why: string) => {
    const last = output.last.join("\n");
    return new SandboxError(`${name} could not be built: ${why}${last ? `\n${last}` : ""}`, {
      permanent: true,
    });
  };
  try {
    await engine.call(
      `build ${name}`,
      async (docker, abortSignal, moved) => {
        const stream = await docker.buildImage(streamOf(context), {
          pull: false,
          rm: true,
          forcerm: true,
          ...options,
          abortSignal,
        });
        for await (const message of messagesOf(stream)) {
          moved();
          const failure = output.take(message);
          if (failure !== null) throw fail(failure);
        }
      },
      { ms: SILENT_MS, longestMs: BUILD_LONGEST_MS, reportsProgress: true, signal },
    );
  } catch (error) {
    // 400: the Dockerfile cannot be read
    if (error instanceof EngineError && error.status < 500) throw fail(error.message);
    throw error;
  } finally {
    context.destroy();
  }
}

/** The engine's progress messages: one JSON object per line (Engine API, "Build an image"). */
async function* messagesOf(stream: NodeJS.ReadableStream): AsyncGenerator<unknown> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const piece of stream) {
    rest += typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
    const lines = rest.split("\n");
    rest = (lines.pop() ?? "").slice(0, MESSAGE_MAX_BYTES);
    for (const line of lines) {
      const message = parsed(line);
      if (message !== undefined) yield message;
    }
  }
  const message = parsed(rest);
  if (message !== undefined) yield message;
}

function parsed(line: string): unknown {
  try {
    return line.trim() === "" ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}

interface Output {
  /** @returns the error of a message that reports a failed build; else null */
  take(message: unknown): string | null;
  readonly last: readonly string[];
}

function createOutput(log: (line: string) => void): Output {
  const last: string[] = [];
  let count = 0;
  let partial = "";

  const write = (text: string) => {
    const line = text.trimEnd().slice(0, LINE_MAX);
    if (line === "") return;
    last.push(line);
    if (last.length > LAST_LINES) last.shift();
    count++;
    if (count < LINES_MAX) log(line);
    else if (count === LINES_MAX) log("… further output is omitted");
  };

  return {
    last,
    take(message) {
      if (typeof message !== "object" || message === null) return null;
      if ("stream" in message && typeof message.stream === "string") {
        const lines = (partial + message.stream.replace(COLORS, "")).split(/\r?\n|\r/);
        partial = (lines.pop() ?? "").slice(0, LINE_MAX);
        for (const line of lines) write(line);
      } else if ("status" in message && typeof message.status === "string" && !("progress" in message)) {
        // a download's steps, without its progress bars
        const id = "id" in message && typeof message.id === "string" ? `${message.id}: ` : "";
        write(`${id}${message.status}`);
      }
      if (!("error" in message) || typeof message.error !== "string") return null;
      if (partial) write(partial);
      return message.error.slice(0, LINE_MAX);
    },
  };
}
