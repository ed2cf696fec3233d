import { SETUP_KEPT_MAX_BYTES } from "../../src/contract/setup.ts";
import { asAgent, type Children, type Command, signalGroup } from "../process/children.ts";
import type { Settings } from "../settings.ts";

type Context = { settings: Settings; children: Children };

/** For the largest archive on a slow disk. */
const TAR_MS = 10 * 60_000;

/**
 * A tar of what a setup command has added, which fails unless it is complete. It is written as the agent: a link cannot lead to
 * files that the agent cannot read.
 * @param paths below `workspace/` and `home/`, in latin1
 */
export function pack(context: Context, paths: readonly string[]): ReadableStream<Uint8Array> {
  const stdin = Buffer.from(paths.map((path) => `${path}\n`).join(""), "latin1");
  const child = context.children.start({ ...tar(context, "-cf - -T -"), stdin });
  const late = setTimeout(() => signalGroup(child.pid, "SIGKILL"), TAR_MS);
  void child.exited.then(() => clearTimeout(late));
  void child.stderr.cancel().catch(() => {});
  let bytes = 0;
  const check = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= SETUP_KEPT_MAX_BYTES) return controller.enqueue(chunk);
      signalGroup(child.pid, "SIGKILL");
      controller.error(new Error("the archive is too large"));
    },
    async flush(controller) {
      if ((await child.exited) !== 0) controller.error(new Error("tar failed"));
    },
  });
  return child.stdout.pipeThrough(check);
}

/** Restores such a tar, as the agent. Files that exist are kept. @returns whether all of it was restored */
export async function unpack(context: Context, body: AsyncIterable<Uint8Array>): Promise<boolean> {
  const child = context.children.startPiped(tar(context, "--skip-old-files -xf -"));
  const late = setTimeout(() => signalGroup(child.pid, "SIGKILL"), TAR_MS);
  for (const output of [child.stdout, child.stderr]) void output.cancel().catch(() => {});
  try {
    for await (const part of body) {
      child.stdin.write(part);
      await child.stdin.flush();
    }
    await child.stdin.end();
  } catch {
    // the request or tar has ended early
    signalGroup(child.pid, "SIGKILL");
  }
  const code = await child.exited;
  clearTimeout(late);
  return code === 0;
}

function tar({ settings }: Context, options: string): Omit<Command, "stdin"> {
  const { workspace, home, inherited } = settings;
  return {
    ...asAgent(settings, ["sh", "-c", SCRIPT.replace("OPTIONS", options), "sh", workspace, home]),
    environment: { PATH: inherited["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
    directory: "/",
  };
}

/** The two folders by names that do not depend on where they are. */
const SCRIPT = `
folder=$(mktemp -d) && ln -s -- "$1" "$folder/workspace" && ln -s -- "$2" "$folder/home" && cd -- "$folder" || exit 1
tar OPTIONS
code=$?
cd / && rm -rf -- "$folder"
exit $code
`;
