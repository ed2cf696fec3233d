import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Api } from "./api.ts";
import { gitAtHome, makeHome, type RunOptions, svc, svcOnTerminal } from "./cli-run.ts";
import { git } from "./remote.ts";

/** A user on a separate machine: signed in to a server, with a folder `work` of files. */
export interface Shipper {
  home: ReturnType<typeof makeHome>;
  /** The folder. */
  cwd: string;
  /** Runs git in the folder, for commands without a server; its output without the last line feed. */
  git(...args: string[]): string;
  /** Runs git as this user, with their settings. */
  asks(...args: string[]): Promise<{ code: number; out: string; err: string }>;
  /** Writes files and commits all files. */
  commit(files: Record<string, string>): string;
  write(files: Record<string, string>): void;
  /** Installs a hook of the repository's. */
  hook(name: string, script: string): void;
  ship(args?: string[], options?: RunOptions): ReturnType<typeof svc>;
  /** Runs `svc ship --json`, which must succeed. */
  shipped(...args: string[]): Promise<Record<string, unknown>>;
  onTerminal(...args: string[]): ReturnType<typeof svcOnTerminal>;
}

interface Wishes {
  /** Null for a folder that is not a repository. */
  branch?: string | null;
  /** Lines for ~/.gitconfig. */
  gitConfig?: string;
}

export function shipper(
  api: Pick<Api, "url" | "token">,
  { branch = "main", gitConfig = "" }: Wishes = {},
): Shipper {
  const home = makeHome();
  const { cwd } = home;
  const write = (folder: string, files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  };
  const hosts = { team: { url: api.url, token: api.token } };
  mkdirSync(dirname(home.config), { recursive: true });
  writeFileSync(home.config, JSON.stringify({ active: "team", hosts }), { mode: 0o600 });
  write(home.home, {
    ".gitconfig": `[user]\nname = A\nemail = a@example.com\n${gitConfig}`,
  });
  const inFolder = (...args: string[]) => git(["-C", cwd, ...args]).replace(/\n$/, "");
  if (branch !== null) inFolder("init", "--quiet", "-b", branch);
  const ship: Shipper["ship"] = (args = [], options = {}) => svc(["ship", ...args], { home, ...options });
  return {
    home,
    cwd,
    git: inFolder,
    asks: (...args) => gitAtHome({ ...home, cwd }, args),
    write: (files) => write(cwd, files),
    commit(files) {
      write(cwd, files);
      inFolder("add", "--all");
      inFolder("commit", "--quiet", "--message", Object.keys(files).join(" "));
      return inFolder("rev-parse", "HEAD");
    },
    hook(name, script) {
      const path = join(cwd, ".git/hooks", name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    },
    ship,
    async shipped(...args) {
      const { code, stdout, stderr } = await ship([...args, "--json"]);
      if (code !== 0 || stderr !== "") throw new Error(`svc ship ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    onTerminal: (...args) => svcOnTerminal(["ship", ...args], { home }),
  };
}
