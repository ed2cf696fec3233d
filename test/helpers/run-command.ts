export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** Runs a program without input, with any exit status. */
export async function runCommand(
  command: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<Ran> {
  const child = Bun.spawn([...command], { ...options, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, err };
}
