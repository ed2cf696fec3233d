import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillIn, readInstallScript } from "../../src/edge/releases/install-script.ts";

export interface Installer {
  root: string;
  home: string;
  /** Stands for /usr/local/bin. */
  system: string;
  /** The script, as a server with this address and key sends it. */
  script(origin: string, publicKey: string): string;
  /** Runs a script as `curl | sh` does. */
  run(script: string, options?: RunOptions): Promise<Installed>;
  /** Puts a program of the shell into a folder that comes first on the PATH. */
  fake(name: string, body: string): void;
  /** The record of the installation. */
  record(): { version: string; files: string[]; links: string[]; path_line: unknown; [key: string]: unknown };
  remove(): void;
}

interface RunOptions {
  shell?: Shell;
  args?: readonly string[];
  env?: Record<string, string>;
  /** Programs that the PATH lacks. */
  without?: readonly string[];
  /** Words before the shell, such as a command that changes the user. */
  before?: readonly string[];
}

interface Installed {
  code: number | null;
  out: string;
  err: string;
}

/** A shell with the programs around it. */
export type Shell = "dash" | "busybox";

/** All that the script may use, besides a verifier and a program that downloads. */
const TOOLS = [
  "cat",
  "chmod",
  "cmp",
  "cp",
  "cut",
  "dash",
  "dd",
  "getconf",
  "grep",
  "xz",
  "ldd",
  "ln",
  "mkdir",
  "mktemp",
  "mv",
  "readlink",
  "rm",
  "rmdir",
  "sed",
  "sha256sum",
  "sh",
  "tar",
  "tr",
  "uname",
  "curl",
  "openssl",
  "node",
];

/** A home, and a folder for each set of programs. */
export function makeInstaller(name = "svc-install-"): Installer {
  const root = mkdtempSync(join(tmpdir(), name));
  const [home, system, fakes] = [join(root, "home"), join(root, "system"), join(root, "fakes")];
  for (const folder of [home, system, fakes]) mkdirSync(folder);
  return {
    root,
    home,
    system,
    script: (origin, publicKey) =>
      fillIn(readInstallScript(), { origin, publicKey }).replaceAll("/usr/local/bin", system),
    async run(script, { shell = "dash", args = [], env = {}, without = [], before = [] } = {}) {
      const tools = toolsFor(root, shell, without);
      const child = Bun.spawn(
        [...before, join(tools, shell === "dash" ? "dash" : "sh"), "-s", "--", ...args],
        {
          cwd: root,
          env: { HOME: home, PATH: `${fakes}:${tools}`, CI: "1", SHELL: "/bin/bash", ...env },
          stdin: new Blob([script]),
          stdout: "pipe",
          stderr: "pipe",
        },
      );
      const [out, err, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      return { code, out, err };
    },
    fake(name, body) {
      writeFileSync(join(fakes, name), `#!/bin/sh\n${body}\n`);
      chmodSync(join(fakes, name), 0o755);
    },
    record: () => JSON.parse(readFileSync(join(home, ".svc/install.json"), "utf8")),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function toolsFor(root: string, shell: Shell, without: readonly string[]): string {
  const folder = join(root, ["tools", shell, ...without].join("-"));
  if (existsSync(folder)) return folder;
  mkdirSync(folder);
  if (shell === "busybox") {
    Bun.spawnSync(["busybox", "--install", "-s", folder]);
    // the applets that a busybox without them lacks, too
    symlinkSync(Bun.which("openssl") ?? "openssl", join(folder, "openssl"));
  } else {
    for (const tool of TOOLS) {
      const path = Bun.which(tool);
      if (path !== null) symlinkSync(path, join(folder, tool));
    }
  }
  for (const tool of without) rmSync(join(folder, tool), { force: true });
  return folder;
}
