import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { caller, makeFolder } from "./api.ts";
import { scratch } from "./gateway.ts";
import { serveGit } from "./git-http.ts";
import { createRepository, runGit, type TestRepository } from "./git-repo.ts";
import { type HaltingServer, startHaltingServer } from "./halting.ts";
import { createDatabase } from "./postgres.ts";
import { descendantsOf, killIfThere, processesWith } from "./processes.ts";
import { Remote } from "./remote.ts";
import type { Ran } from "./run-command.ts";
import { untilSteady } from "./until.ts";

export const KINDS = ["hosted", "file", "http"] as const;
export type Kind = (typeof KINDS)[number];

/** A project, where its repository lies on this disk, and where svc keeps its copy: the same when svc hosts it. */
export interface PushPlace {
  kind: Kind;
  projectId: string;
  directory: string;
  copy: string;
  /** The git host's repository; null when svc is the host. */
  remote: Remote | null;
}

/** A running push in a separate process group. */
export interface Pushing {
  ended: Promise<Ran>;
  kill(): void;
}

/** A server in a process of its own that can be stopped between two steps, killed, and started again where it was. */
export interface PushBench extends Pick<HaltingServer, "pid" | "haltAt" | "go" | "kill" | "start"> {
  dataDir: string;
  token: string;
  places: Record<Kind, PushPlace>;
  /** The clients' repository. */
  work: TestRepository;
  origin(): string;
  url(place: PushPlace): string;
  /** The next `git <verb>` of the server dies by SIGKILL before, while, halfway through or after its work, or finds the disk full. */
  failNext(verb: string, how: "before" | "while" | "half" | "after" | "full"): void;
  /** A `git cat-file` that is to die does so until this is called. */
  failNoMore(): void;
  push(place: PushPlace, ...args: string[]): Pushing;
  /** Waits until the server and the test's host are idle. */
  quiet(): Promise<void>;
  /** Processes that a server on this data folder has started and that are not the living one's. */
  orphans(): string[];
  /** Locks, quarantines and temporary files anywhere in the data folder. */
  leftovers(): string[];
  stop(): Promise<void>;
}

export async function startPushBench(limits: Record<string, number> = {}): Promise<PushBench> {
  const database = await createDatabase();
  const dataDir = makeFolder();
  const tools = scratch();
  const remotes = { file: new Remote(), http: new Remote() };
  const host = serveGit(join(remotes.http.path, ".."));
  const work = await createRepository(join(tools.path, "work.git"));
  const order = installDyingGit(tools.path);
  const server = await startHaltingServer({
    PATH: `${tools.path}:${process.env["PATH"] ?? ""}`,
    SVC_PORT: "0",
    SVC_DATA_DIR: dataDir,
    SVC_ALLOW_PRIVATE_REPOS: "1",
    SVC_LOG_LEVEL: "silent",
    DATABASE_URL: database.url,
    TEST_GIT_LIMITS: JSON.stringify(limits),
  });
  const token =
    (await sendAdminCommand(dataDir, { verb: "token", email: "first@example.com", name: "t" })) ?? "";
  const places = {
    hosted: await makePlace("hosted", null, null),
    file: await makePlace("file", remotes.file, remotes.file.url),
    http: await makePlace("http", remotes.http, `${host.origin}/${basename(remotes.http.path)}`),
  };

  return {
    dataDir,
    token,
    places,
    work,
    ...server,
    origin: () => server.url(),
    url,
    failNext(verb, how) {
      writeFileSync(order, `${verb} ${how}\n`);
      // a cat-file process stays for the next request
      if (verb !== "cat-file") return;
      for (const { pid, command } of descendantsOf(server.pid()))
        if (command.includes("cat-file")) killIfThere(pid);
    },
    failNoMore: () => rmSync(order, { force: true }),
    push(place, ...args) {
      return startClient(work.directory, ["push", url(place), ...args]);
    },
    quiet: () => untilSteady("nobody is at work", isQuiet),
    orphans,
    leftovers: () => files(dataDir).filter((path) => LEFTOVER.test(path)),
    async stop() {
      await server.kill();
      host[Symbol.dispose]();
      tools[Symbol.dispose]();
      for (const remote of Object.values(remotes)) remote.remove();
      rmSync(dataDir, { recursive: true, force: true });
      await database.drop();
    },
  };

  function url({ projectId }: Pick<PushPlace, "projectId">): string {
    return `${server.url().replace("://", `://x:${token}@`)}/v1/git/${projectId}.git`;
  }

  async function makePlace(kind: Kind, remote: Remote | null, repoUrl: string | null): Promise<PushPlace> {
    const folder = join(dataDir, remote ? "mirrors" : "repositories");
    const known = new Set(existsSync(folder) ? readdirSync(folder) : []);
    const call = caller(server.url(), token);
    const made = await call("POST", "/v1/projects", {
      body: { name: kind, ...(repoUrl && { repo_url: repoUrl }) },
    });
    if (made.status !== 201) throw new Error(`no project: ${made.text}`);
    const projectId = made.body.project_id;
    // the first request creates the mirror
    const listed = await startClient(work.directory, ["ls-remote", url({ projectId })]).ended;
    if (listed.code !== 0) throw new Error(listed.err);
    const copy = join(folder, readdirSync(folder).find((name) => !known.has(name)) ?? "");
    return { kind, projectId, directory: remote?.path ?? copy, copy, remote };
  }

  /** A request of a git that was killed may still be on its way to the host, and that git's children may live. */
  function isQuiet(): boolean {
    return host.pending() === 0 && incoming().length === 0 && orphans().length === 0;
  }

  function orphans(): string[] {
    const living = new Set(descendantsOf(server.pid()).map(({ pid }) => pid));
    return processesWith(`HOME=${join(dataDir, "git", "home")}\0`)
      .filter(({ pid }) => !living.has(pid))
      .map(({ pid, command }) => `${pid} ${command}`);
  }

  function incoming(): string[] {
    const folder = join(dataDir, "git", "temporary");
    return existsSync(folder) ? readdirSync(folder) : [];
  }
}

/** Temporary files of git and svc that no push may leave behind. */
const LEFTOVER = /\.lock$|(?:^|\/)(?:tmp_|incoming-|\.tmp-|gone-|mirror-|ssh-)[^/]*$|packed-refs\.new$/;

/** All paths below a folder. */
export function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" });
}

/** A `git` that kills itself if a file says so, and otherwise runs the real one. */
function installDyingGit(folder: string): string {
  const order = join(folder, "die");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "git"),
    `#!/bin/sh
if [ -e '${order}' ]; then
  read verb how < '${order}'
  if [ "$1" = "$verb" ]; then
    # looking objects up goes on: whoever looks meanwhile would have the one that dies
    [ "$verb" = cat-file ] || rm '${order}'
    # whoever ignores the signal is told that the file cannot grow, as on a full disk
    [ "$how" != full ] || { trap '' XFSZ; ulimit -f 0; exec '${Bun.which("git")}' "$@"; }
    [ "$how" != while ] ||
      touch "$GIT_DIR/refs/heads/main.lock" "$GIT_DIR/packed-refs.new" "$GIT_DIR/objects/pack/tmp_pack_x"
    if [ "$how" = half ]; then
      made=$(tr '\\0' '\\n' | sed -n '/refs.heads.new$/{n;p;}')
      '${Bun.which("git")}' update-ref refs/heads/new "$made"
      touch "$GIT_DIR/refs/heads/main.lock"
    fi
    [ "$how" != after ] || '${Bun.which("git")}' "$@"
    kill -9 $$
  fi
fi
exec '${Bun.which("git")}' "$@"
`,
  );
  chmodSync(join(folder, "git"), 0o755);
  return order;
}

function startClient(directory: string, args: string[]): Pushing {
  const child = Bun.spawn(["git", ...args], {
    cwd: directory,
    env: { ...GIT_ENVIRONMENT, GIT_TERMINAL_PROMPT: "0" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  const ended = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]).then(
    async ([out, err]) => ({ code: await child.exited, out, err }),
  );
  return {
    ended,
    kill() {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // it has ended
      }
    },
  };
}

/** A commit on top of another, with a file of random bytes that no pack makes smaller. */
export async function commitBytes(
  work: TestRepository,
  parent: string | null,
  bytes: number,
): Promise<string> {
  const stdin = randomBytes(bytes);
  const blob = (await runGit(work.directory, ["hash-object", "-w", "--stdin"], { stdin })).stdout;
  const tree = await runGit(work.directory, ["mktree"], {
    stdin: `100644 blob ${blob.toString().trim()}\tf\n`,
  });
  const parents = parent === null ? [] : ["-p", parent];
  return await work.git("commit-tree", tree.stdout.toString().trim(), "-m", "work", ...parents);
}
