import type { DaemonNotRead, DaemonPatch, DaemonWorkspace } from "../../src/contract/daemon.ts";
import { SvcError } from "../../src/contract/errors.ts";
import type { Streamed } from "../../src/splice/answer.ts";
import { asAgent, type Child, type Children, signalGroup } from "../process/children.ts";
import { createWorkspaceGit, type WorkspaceGit } from "../saved/workspace-git.ts";
import type { Settings } from "../settings.ts";
import { thisProgram } from "../this-program.ts";
import { type KeptLines, listChanges, patchOf } from "./changes.ts";
import { removeStaged, type Staged, stageWorkspace } from "./staged.ts";

/** Readers at once: a page or two, and their downloads. */
const AT_ONCE_MAX = 16;
/** To compare the files: more than `git status` takes in the largest repositories. */
const COMPARE_MS = 60_000;
/** The longest pause of a program or a reader. */
const SILENT_MS = 120_000;
const REMOVE_MS = 10_000;

interface Context {
  settings: Settings;
  children: Children;
  isCloned(): boolean;
}

/**
 * Reads the workspace for svc. What reads the agent's files runs as the agent: git runs programs that a repository's
 * configuration names, and a link leads only to what the agent can read.
 */
export class Workspace {
  readonly #context: Context;
  #readers = 0;
  #kept: KeptLines | null = null;

  constructor(context: Context) {
    this.#context = context;
  }

  /** @param client aborts when the reader has gone. @throws SvcError unavailable */
  async read(wanted: DaemonWorkspace, client: AbortSignal): Promise<Streamed> {
    if (!this.#context.isCloned())
      throw unavailable("The repository is not cloned yet. Try again in a moment.");
    if (this.#readers >= AT_ONCE_MAX)
      throw unavailable(`${AT_ONCE_MAX} readers read this workspace. Try again in a moment.`);
    return {
      status: 200,
      headers: { "content-type": "application/octet-stream", "cache-control": "no-store" },
      pump: async (write) => {
        this.#readers++;
        try {
          await this.#pump(wanted, client, write);
        } finally {
          this.#readers--;
        }
      },
    };
  }

  async #pump(wanted: DaemonWorkspace, client: AbortSignal, write: Write): Promise<void> {
    switch (wanted.read) {
      case "folder":
        return await this.#printed(["folder", wanted.path], client, write);
      case "file": {
        const { path, from, to } = wanted;
        return await this.#printed(["file", path, String(from), String(to ?? "")], client, write);
      }
      case "changes":
        return await this.#compare(
          wanted.default_branch,
          client,
          write,
          async (workspaceGit, staged, begin) => {
            const { settings } = this.#context;
            const { changes, kept } = await listChanges(workspaceGit, settings, staged, this.#kept);
            this.#kept = kept;
            await begin(lineOf(changes));
          },
        );
      case "patch":
        return await this.#compare(wanted.default_branch, client, write, (workspaceGit, staged, begin) =>
          this.#patch({ path: wanted.path, workspaceGit, staged, client }, begin),
        );
    }
  }

  /** What `svc-agent read-workspace` prints. */
  async #printed([verb, path, ...rest]: string[], client: AbortSignal, write: Write): Promise<void> {
    const { settings, children } = this.#context;
    const { workspace, home, inherited } = settings;
    const words = [verb ?? "", workspace, path ?? "", ...rest];
    const child = children.start({
      ...asAgent(settings, [...thisProgram(), "read-workspace", ...words]),
      environment: { PATH: inherited["PATH"] ?? "/usr/bin:/bin", HOME: home },
      directory: "/",
    });
    await pass(child, client, write);
  }

  /** Compares the workspace with its base. If that fails before the response has begun, the response says so. */
  async #compare(
    defaultBranch: string,
    client: AbortSignal,
    write: Write,
    work: (workspaceGit: WorkspaceGit, staged: Staged, write: Write) => Promise<void>,
  ): Promise<void> {
    const { settings } = this.#context;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), COMPARE_MS);
    const workspaceGit = createWorkspaceGit(this.#context, AbortSignal.any([client, late.signal]));
    let staged: Staged | null = null;
    let isBegun = false;
    try {
      staged = await stageWorkspace(workspaceGit, settings, defaultBranch);
      await work(workspaceGit, staged, (bytes) => {
        isBegun = true;
        return write(bytes);
      });
    } catch (error) {
      if (isBegun) throw error;
      await write(lineOf({ error: "failed" } satisfies DaemonNotRead));
    } finally {
      clearTimeout(timer);
      if (staged) {
        const cleaning = createWorkspaceGit(this.#context, AbortSignal.timeout(REMOVE_MS));
        await removeStaged(cleaning, staged).catch(() => {});
      }
    }
  }

  async #patch({ path, workspaceGit, staged, client }: PatchWanted, write: Write): Promise<void> {
    const { settings } = this.#context;
    // an argument is UTF-8: a path that is not matches nothing
    const limit = path === null ? null : Buffer.from(path, "base64").toString();
    const { args, omitted } = await patchOf(workspaceGit, settings, staged, limit);
    await write(lineOf({ omitted } satisfies DaemonPatch));
    // a reader may be slow
    const unhurried = createWorkspaceGit(this.#context, client);
    const child = unhurried.stream(args, { environment: staged.environment });
    await pass(child, client, write);
    if (child.exitCode !== 0) throw new Error("git could not make the patch");
  }
}

interface PatchWanted {
  /** What it is limited to; null: all. */
  path: string | null;
  workspaceGit: WorkspaceGit;
  staged: Staged;
  client: AbortSignal;
}

type Write = Parameters<Streamed["pump"]>[0];

function lineOf(line: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

/** Passes the output of a program on, and ends it when its reader has gone, or when nothing has moved for too long. */
async function pass(child: Child, client: AbortSignal, write: Write): Promise<void> {
  const end = () => signalGroup(child.pid, "SIGKILL");
  let timer = setTimeout(end, SILENT_MS);
  client.addEventListener("abort", end);
  if (client.aborted) end();
  void drain(child.stderr);
  const reader = child.stdout.getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      await write(piece.value);
      clearTimeout(timer);
      timer = setTimeout(end, SILENT_MS);
    }
    await child.exited;
  } finally {
    clearTimeout(timer);
    client.removeEventListener("abort", end);
    end();
  }
  // the response is cut off, so that its reader does not take it for whole
  if (child.signalCode !== null) throw new Error("the program was ended");
}

async function drain(stream: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stream.getReader();
  while (!(await reader.read().catch(() => ({ done: true }))).done);
}

function unavailable(message: string): SvcError {
  return new SvcError("unavailable", message, {}, { "Retry-After": "1" });
}
