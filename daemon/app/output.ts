import { randomBytes } from "node:crypto";
import { asAgent, signalGroup } from "../process/children.ts";
import { type AppContext, rootOf } from "./context.ts";
import { findFolder } from "./folder.ts";

/** Where the daemon's own listener hands out what was built: only who knows the path is answered. */
export interface Output {
  port: number;
  path: string;
  stop(): void;
}

/**
 * Offers what the build has left as a tar, for svc to take out.
 * @throws AppError when there is no such folder, or it is none of the repository's
 */
export async function serveOutput(context: AppContext): Promise<Output> {
  const { output } = context.app;
  const missing = `The build has left no folder ${output}, where the site is to be.`;
  const folder = await findFolder(rootOf(context), output ?? ".", missing);
  const path = `/${randomBytes(24).toString("hex")}`;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    // a large site over a slow way
    idleTimeout: 255,
    fetch(request) {
      if (new URL(request.url).pathname !== path) return new Response(null, { status: 404 });
      return new Response(pack(context, folder, request.signal));
    },
  });
  return { port: server.port ?? 0, path, stop: () => void server.stop(true) };
}

/** Read by the agent's own user: a link or a name of its own choosing leads nowhere that it could not go itself. */
function pack({ settings, children }: AppContext, folder: string, signal: AbortSignal): ReadableStream {
  const child = children.start({
    ...asAgent(settings, ["tar", "--create", "--file=-", "--directory", folder, "--exclude=./.git", "."]),
    environment: { PATH: settings.inherited["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
    directory: "/",
  });
  signal.addEventListener("abort", () => signalGroup(child.pid, "SIGKILL"));
  return child.stdout;
}
