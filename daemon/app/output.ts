import { randomBytes } from "node:crypto";
import { asAgent, signalGroup } from "../process/children.ts";
import { type AppContext, rootOf } from "./context.ts";
import { findFolder } from "./folder.ts";

/** A listener that serves the build's output at a secret path. */
export interface Output {
  port: number;
  path: string;
  stop(): void;
}

/**
 * Serves the folder of the build's output as a tar archive, for svc to download.
 * @throws AppError if the folder does not exist or is outside the repository
 */
export async function serveOutput(context: AppContext): Promise<Output> {
  const { output } = context.app;
  const missing = `The build did not create the site's folder ${output}.`;
  const folder = await findFolder(rootOf(context), output ?? ".", missing);
  const path = `/${randomBytes(24).toString("hex")}`;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    // a large site over a slow connection
    idleTimeout: 255,
    fetch(request) {
      if (new URL(request.url).pathname !== path) return new Response(null, { status: 404 });
      return new Response(pack(context, folder, request.signal));
    },
  });
  return { port: server.port ?? 0, path, stop: () => void server.stop(true) };
}

/** Runs as the agent: a link in the folder cannot lead to files that the agent cannot read. */
function pack({ settings, children }: AppContext, folder: string, signal: AbortSignal): ReadableStream {
  const child = children.start({
    ...asAgent(settings, ["tar", "--create", "--file=-", "--directory", folder, "--exclude=./.git", "."]),
    environment: { PATH: settings.inherited["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
    directory: "/",
  });
  signal.addEventListener("abort", () => signalGroup(child.pid, "SIGKILL"));
  return child.stdout;
}
