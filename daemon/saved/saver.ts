import { secretTexts } from "../../src/contract/codex-login.ts";
import type { DaemonEnv, DaemonHealth } from "../../src/contract/daemon.ts";
import { type Credential, CredentialError, fetchCredential } from "../git/credential.ts";
import type { Log } from "../log.ts";
import type { Children } from "../process/children.ts";
import type { Settings } from "../settings.ts";
import { renewedLogin } from "./renewed-login.ts";
import { SaveError } from "./save-error.ts";
import { SecretHistory } from "./secrets.ts";
import { type Snapshot, type SnapshotResult, takeSnapshot } from "./snapshot.ts";
import { type Kept, removeStagingFolder } from "./staging-folder.ts";
import { listRefs, pushSaved, type RemoteRefs, StaleError } from "./upload.ts";
import { createWorkspaceGit, DISK_FULL, gitFailed, type WorkspaceGit } from "./workspace-git.ts";
import { readWorkspaceStatus } from "./workspace-status.ts";

export interface SaverContext {
  settings: Settings;
  children: Children;
  log: Log;
  /** The project's current secrets. */
  secrets(): DaemonEnv;
  limits?: Partial<SaverLimits>;
}

export interface SaverLimits {
  /** The interval of saves: with the duration of a save, less than a minute. */
  saveIntervalMs: number;
  /** One save: 100,000 files on a slow disk. */
  saveMs: number;
}

const LIMITS: SaverLimits = { saveIntervalMs: 30_000, saveMs: 5 * 60_000 };
/** Variables of svc that contain credentials. */
const OWN_SECRETS = ["SVC_CLI_TOKEN", "SVC_EXECUTOR_TOKEN", "SVC_LLM_API_KEY", "SVC_YOLO_API_KEY"];
/** Commits of this daemon that the ref may still point to. */
const OWN_MAX = 50;

/** The state after a save, by which the next one finds that nothing has changed. */
interface Saved {
  snapshot: Snapshot | null;
  fingerprint: string | null;
  excluded: string;
}

/** Saves unpushed work to a ref of its session, at intervals and on request (contract: Sessions, sandboxes, proxy). */
export class Saver {
  /** The last saved work of this sandbox; null: none. */
  saved: DaemonHealth["saved"] = null;
  /** The commit of an earlier sandbox that was restored. */
  restored: string | null = null;
  readonly #context: SaverContext;
  readonly #limits: SaverLimits;
  readonly #secrets = new SecretHistory();
  /** Aborts the save that is under way. */
  #current: AbortController | null = null;
  #queue: Promise<void> = Promise.resolve();
  #timer: ReturnType<typeof setInterval> | null = null;
  #saveProblem: string | null = null;
  #restoreProblem: string | null = null;
  #last: Saved = { snapshot: null, fingerprint: null, excluded: "" };
  /** The folder that the last successful save left, and the bytes that were sent since it was created. */
  #folder: { kept: Kept; sentBytes: number } | null = null;
  readonly #own: string[] = [];
  /** Work of an earlier sandbox that only its saved commit holds. */
  #earlier: string | null = null;

  constructor(context: SaverContext) {
    this.#context = context;
    this.#limits = { ...LIMITS, ...context.limits };
  }

  /** Why work is not saved or was not restored, for a person. */
  get problem(): string | null {
    return this.#saveProblem ?? this.#restoreProblem;
  }

  /** Saves at intervals from now on. */
  start(): void {
    this.#timer ??= setInterval(() => {
      if (!this.#current) void this.#enqueue(this.#limits.saveMs);
    }, this.#limits.saveIntervalMs);
  }

  /** Saves now, within `ms`. It does not reject: failures are in `problem` and in the log. */
  async save(ms: number): Promise<void> {
    this.#current?.abort();
    await this.#enqueue(ms);
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Records that saved work was restored; `earlier` is work from before it that was not. */
  adopt(commit: string, earlier: string | null): void {
    this.#remember(commit);
    this.restored = commit;
    this.#earlier = earlier;
  }

  /** Reports a problem that later saves do not clear. */
  reportRestoreProblem(problem: string): void {
    this.#restoreProblem = problem;
  }

  /** Runs one save after the other. */
  #enqueue(ms: number): Promise<void> {
    this.#queue = this.#queue.then(() => this.#attempt(ms));
    return this.#queue;
  }

  async #attempt(ms: number): Promise<void> {
    const stop = new AbortController();
    this.#current = stop;
    const late = AbortSignal.timeout(ms);
    const signal = AbortSignal.any([stop.signal, late]);
    try {
      await this.#saveOnce(signal).catch((error: unknown) => {
        if (!(error instanceof StaleError)) throw error;
        // the ref has moved since it was read: retry once from its new value
        return this.#saveOnce(signal);
      });
      this.#saveProblem = null;
    } catch (error) {
      if (!stop.signal.aborted)
        this.#report(late.aborted ? `it took longer than ${ms / 1000} s.` : messageOf(error));
    } finally {
      this.#current = null;
    }
  }

  #report(words: string): void {
    const sentence = `Unpushed work could not be saved: ${words}`;
    if (sentence !== this.#saveProblem) this.#context.log.info(sentence);
    this.#saveProblem = sentence;
  }

  async #saveOnce(signal: AbortSignal): Promise<void> {
    const { settings } = this.#context;
    const workspaceGit = createWorkspaceGit(this.#context, signal);
    const status = await readWorkspaceStatus(workspaceGit, settings);
    if (status.fingerprint !== null && status.fingerprint === this.#last.fingerprint) return;
    const credential = await fetchCredential(settings, settings.token, signal, "saved");
    const refs = await listRefs(settings, credential, signal);
    if (refs.saved !== null && !this.#own.includes(refs.saved)) this.#earlier = refs.saved;
    const folder =
      this.#folder && this.#folder.sentBytes <= KEPT_MAX_BYTES ? this.#folder : { kept: null, sentBytes: 0 };
    // after a failure the next save starts with an empty folder
    this.#folder = null;
    const draft = {
      ...{ workspaceGit, settings, kept: folder.kept },
      ...this.#secrets.update(this.#currentSecrets()),
      known: { ...refs, earlier: this.#earlier },
    };
    const taken = await takeSnapshot(draft, status).catch(async (error: unknown) => {
      await removeStagingFolder(workspaceGit, settings).catch(() => {});
      throw error;
    });
    const sentBytes = await this.#push(taken, { refs, credential, workspaceGit, signal });
    const excluded = taken.excluded.join("\n");
    if (excluded !== this.#last.excluded)
      for (const line of taken.excluded) this.#context.log.info(`not saved: ${line.trim()}`);
    this.#last = { ...this.#last, fingerprint: status.fingerprint, excluded };
    this.#folder = { kept: taken.kept, sentBytes: folder.sentBytes + sentBytes };
  }

  /** Moves the ref to a snapshot unless it is there already. @returns the bytes that were sent */
  async #push(
    taken: SnapshotResult,
    { refs, credential, workspaceGit, signal }: PushContext,
  ): Promise<number> {
    const { settings, log } = this.#context;
    const { snapshot } = taken;
    const last = this.#last.snapshot;
    const isSaved = snapshot && last && isSame(snapshot, last) && refs.saved === last.commit;
    // with nothing to save, the ref keeps the work of an earlier sandbox
    const to = isSaved ? refs.saved : (snapshot?.commit ?? this.#earlier);
    if (to === refs.saved) return 0;
    if (to !== null && to !== this.#earlier) this.#remember(to);
    let sentBytes = 0;
    const onBytes = (bytes: number) => {
      sentBytes += bytes;
    };
    const pack = to === null ? null : packOf(workspaceGit, taken, onBytes);
    await pushSaved(settings, credential, { from: refs.saved, to, format: refs.format }, pack, signal);
    this.saved = snapshot ? { commit: snapshot.commit, at: new Date().toISOString() } : null;
    this.#last = { ...this.#last, snapshot };
    log.info(
      snapshot ? `saved unpushed work as ${snapshot.commit}` : "all work is pushed: removed the saved work",
    );
    return sentBytes;
  }

  #currentSecrets(): string[] {
    const { settings, secrets } = this.#context;
    const own = OWN_SECRETS.flatMap((name) => settings.inherited[name] ?? []);
    const values = Object.entries(secrets().env).flatMap(([name, value]) => secretTexts(name, value));
    return [settings.token, ...own, ...values, ...renewedLogin(settings)];
  }

  #remember(commit: string): void {
    this.#own.push(commit);
    if (this.#own.length > OWN_MAX) this.#own.shift();
  }
}

interface PushContext {
  refs: RemoteRefs;
  credential: Credential;
  workspaceGit: WorkspaceGit;
  signal: AbortSignal;
}

/** Objects that saves may keep on the disk for the next one; beyond that, the folder is created again. */
const KEPT_MAX_BYTES = 512 * 1024 * 1024;

function isSame(one: Pick<Snapshot, "tree" | "parents">, other: Pick<Snapshot, "tree" | "parents">): boolean {
  return one.tree === other.tree && one.parents.join() === other.parents.join();
}

/** A pack, possibly without objects. @throws SaveError in the middle of the stream when git fails */
async function* packOf(
  workspaceGit: WorkspaceGit,
  { snapshot, environment }: SnapshotResult,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const child = workspaceGit.stream(["pack-objects", "--stdout", "--quiet", "--delta-base-offset"], {
    stdin: Buffer.from((snapshot?.objects ?? []).map((id) => `${id}\n`).join("")),
    environment,
  });
  const errors = new Response(child.stderr).text();
  for await (const part of child.stdout) {
    onBytes(part.length);
    yield part;
  }
  await child.exited;
  if (child.exitCode !== 0) throw gitFailed("git could not pack the work", await errors);
}

function messageOf(error: unknown): string {
  if (error instanceof SaveError || error instanceof CredentialError) return error.message;
  if (error instanceof StaleError) return "the ref of the saved work was moved by another process.";
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  if (code === "ENOSPC") return DISK_FULL;
  return code === "ENOENT" ? "git or the workspace was not found." : `${code}.`;
}
