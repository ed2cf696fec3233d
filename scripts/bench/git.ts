import { GIT_ENVIRONMENT } from "../git-environment.ts";

/** Creates a bare repository in the current folder. */
export const INIT_BARE = ["init", "--quiet", "--bare", "--template=", "--initial-branch=main"];

/**
 * Runs git in a repository and reads all of its output.
 * @throws Error with git's message if its exit code is not 0.
 */
export async function git(repository: string, args: readonly string[], input = ""): Promise<string> {
  const child = Bun.spawn(["git", ...args], {
    cwd: repository,
    env: GIT_ENVIRONMENT,
    stdin: input === "" ? "ignore" : Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).bytes(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`git ${args.join(" ")}: ${err}`);
  return Buffer.from(out.buffer, out.byteOffset, out.byteLength).toString("latin1").trimEnd();
}

/** Feeds a stream to `git fast-import` without holding it in memory. */
export async function fastImport(
  repository: string,
  stream: Iterable<string | Uint8Array>,
  settings: Record<string, string> = {},
): Promise<void> {
  const flags = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  const child = Bun.spawn(["git", ...flags, "fast-import", "--quiet", "--force"], {
    cwd: repository,
    env: GIT_ENVIRONMENT,
    stdin: "pipe",
    stdout: "ignore",
    stderr: "inherit",
  });
  for (const part of stream) {
    child.stdin.write(part);
    await child.stdin.flush();
  }
  await child.stdin.end();
  if ((await child.exited) !== 0) throw new Error("git fast-import failed");
}
