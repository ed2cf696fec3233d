export interface Ran {
  code: number;
  out: string;
  err: string;
}

interface RunOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  input?: string;
}

/** Runs a program and waits for it. The caller checks the exit status. */
export async function run(command: string[], { input = "", ...options }: RunOptions = {}): Promise<Ran> {
  const child = Bun.spawn(command, { ...options, stdin: new Blob([input]), stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}
