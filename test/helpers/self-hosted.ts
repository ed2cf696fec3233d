import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "../../scripts/free-port.ts";
import { expectDocumentedFields } from "./cli-fields.ts";
import { makeHome, type Ran, svc } from "./cli-run.ts";

/** A home whose `svc self-host` uses a free port, with the compiled server as its program. */
export interface SelfHosted {
  home: ReturnType<typeof makeHome>;
  dir: string;
  port: number;
  /** A folder without programs, for a PATH. */
  empty: string;
  /** Runs `svc self-host …`. */
  selfHost(...args: string[]): Promise<Ran>;
  /** `self-host start --native` without a service manager. */
  start(...args: string[]): Promise<Ran>;
  /** The processes that the supervisor recorded. */
  processes(): {
    supervisor: { pid: number; id: string };
    api: { pid: number; id: string } | null;
    exits: number;
  };
  /** Stops the server, also after a failed test. */
  end(): Promise<void>;
}

/** Compiled: a self-hosted server is started often, and from source each start takes three times as much CPU time. */
const SVC_API = resolve("dist/svc-api");

/**
 * The line of a shell script that becomes svc-api. `svc self-host` does not pass on how the test command sets up Bun's
 * compilers: without these settings, a start on the embedded database takes half as much CPU time again.
 */
export const RUN_API = `${Object.entries(process.env)
  .flatMap(([name, value]) => (name.startsWith("BUN_JSC_") ? [`export ${name}=${value}; `] : []))
  .join("")}exec '${SVC_API}' "$@"`;

export function selfHosted(env: Record<string, string> = {}): SelfHosted {
  const home = makeHome();
  // a folder of its own: that of the home is removed before the server is stopped
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-sh-")));
  const dir = join(folder, "sh");
  const program = join(folder, "svc-api");
  writeFileSync(program, `#!/bin/sh\n${RUN_API}\n`);
  chmodSync(program, 0o755);
  const port = freePort();
  const selfHost = async (...args: string[]) => {
    const line = ["self-host", ...args];
    const ran = await svc(line, { home, cwd: folder, env: { SVC_SELF_HOST_DIR: dir, ...env } });
    if (ran.code === 0 && args.includes("--json")) expectDocumentedFields(line, ran.stdout);
    return ran;
  };
  const flags = ["--native", "--no-service", "--api-binary", program, "--email", "ada@example.com"];
  return {
    home,
    dir,
    port,
    empty: home.cwd,
    selfHost,
    start: (...args) => selfHost("start", ...flags, "--listen", `127.0.0.1:${port}`, ...args),
    processes: () => JSON.parse(readFileSync(join(dir, "server.json"), "utf8")),
    async end() {
      await selfHost("stop");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
