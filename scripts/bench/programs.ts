import { join } from "node:path";
import { until } from "../../test/helpers/until.ts";
import { GIT_ENVIRONMENT } from "../git-environment.ts";
import type { Workbench } from "./workbench.ts";

const BAD_GATEWAY = 502;
/** Folders for servers on Debian, which are not on the PATH of ordinary users. */
const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/usr/local/sbin`;

export function findProgram(name: string): string | null {
  return Bun.which(name, { PATH });
}

/** Starts a program in a new process group, because fcgiwrap does not stop its workers. */
export function start(
  bench: Workbench,
  cwd: string,
  command: string[],
  more: Record<string, string> = {},
): void {
  const env = { ...GIT_ENVIRONMENT, PATH, ...more };
  const stderr = Bun.file(join(cwd, "stderr"));
  const child = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "ignore", stderr, detached: true });
  bench.atEnd(() => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // it did not start
    }
  });
}

/** Waits until a server answers with any status except that of a gateway without a backend. */
export async function untilListening(url: string): Promise<void> {
  const answers = () =>
    fetch(url).then(
      ({ status }) => status !== BAD_GATEWAY,
      () => false,
    );
  await until(`something listens at ${url}`, answers);
}
