import type { DaemonEnv, DaemonHealth } from "../../src/contract/daemon.ts";
import { CredentialError, fetchCredential } from "../git/credential.ts";
import type { Log } from "../log.ts";
import type { Children } from "../process/children.ts";
import type { Settings } from "../settings.ts";
import { type Kept, removeFolder } from "./folder.ts";
import { lookAt } from "./look.ts";
import { SaveError } from "./save-error.ts";
import { createNeedles } from "./secrets.ts";
import { type Snapshot, type Taken, takeSnapshot } from "./snapshot.ts";
import { askRefs, pushSaved, StaleError } from "./upload.ts";
import { createWorkspaceGit, DISK_FULL, gitFailed, type WorkspaceGit } from "./workspace-git.ts";

/** Keeps work that was not pushed on a ref of its session (contract: Sessions, sandboxes, proxy). */
export interface Saver {
  /** What is saved of this life of the sandbox. */
  readonly saved: NonNullable<DaemonHealth["saved"]> | null;
  /** The commit of an earlier life that is in the workspace again. */
  readonly restored: string | null;
  /** Why it is not as it should be, for a person. */
  readonly problem: string | null;
  /** Begins to look, once the workspace is there. */
  start(): void;
  /** Saves now, in any case within `ms`. It does not fail: what is wrong is told by `problem`, and in the log. */
  save(ms: number): Promise<void>;
  /** Looks no more. */
  stop(): void;
  /** Saved work of an earlier life is in the workspace again; `earlier` is what that kept of one before. */
  adopt(commit: string, earlier: string | null): void;
  /** Tells a problem that saving does not mend. */
  tell(problem: string): void;
}

export interface SaverContext {
  settings: Settings;
  children: Children;
  log: Log;
  /** The project's secrets as they are now. */
  secrets(): DaemonEnv;
  limits?: Partial<SaverLimits>;
}

export interface SaverLimits {
  /** Between two looks: with the time that a save takes it stays below a minute. */
  lookMs: number;
  /** One save: 100,000 files on a slow disk. */
  saveMs: number;
}

const LIMITS: SaverLimits = { lookMs: 30_000, saveMs: 5 * 60_000 };
/** Variables of svc's own whose values open something. */
const OWN_SECRETS = ["SVC_CLI_TOKEN", "SVC_EXECUTOR_TOKEN", "SVC_LLM_API_KEY", "SVC_YOLO_API_KEY"];
/** Commits that may be on the ref since this daemon has sent them. */
const OWN_MAX = 50;

export function createSaver(context: SaverContext): Saver {
  const { settings, children, log } = context;
  const limits = { ...LIMITS, ...context.limits };
  /** Ends the look that is under way, for one that must not wait. */
  let current: AbortController | null = null;
  let turn: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setInterval> | null = null;
  let saved: Saver["saved"] = null;
  let restored: string | null = null;
  let problem: string | null = null;
  let told: string | null = null;
  /** What was saved last, and how the workspace was then. */
  let last: Pick<Snapshot, "commit" | "tree" | "parents"> | null = null;
  let settled: string | null = null;
  let leftOut = "";
  let kept: Kept | null = null;
  /** Bytes that were sent since the folder was made anew: so much is in it. */
  let sent = 0;
  const own: string[] = [];
  /** Work of an earlier life that only its saved commit has. */
  let earlier: string | null = null;
  const clean = new Set<string>();
  const secret = new Set<string>();
  let needlesId = "";

  return {
    get saved() {
      return saved;
    },
    get restored() {
      return restored;
    },
    get problem() {
      return problem ?? told;
    },
    start() {
      timer ??= setInterval(() => {
        if (!current) void begin(limits.saveMs);
      }, limits.lookMs);
    },
    async save(ms) {
      current?.abort();
      await begin(ms);
    },
    stop() {
      if (timer) clearInterval(timer);
      timer = null;
    },
    adopt(commit, before) {
      remember(commit);
      restored = commit;
      earlier = before;
    },
    tell(words) {
      told = words;
    },
  };

  /** One after the other. */
  function begin(ms: number): Promise<void> {
    const mine = turn.then(() => attempt(ms));
    turn = mine;
    return mine;
  }

  async function attempt(ms: number): Promise<void> {
    const stop = new AbortController();
    current = stop;
    const late = AbortSignal.timeout(ms);
    const signal = AbortSignal.any([stop.signal, late]);
    try {
      await once(signal).catch((error: unknown) => {
        if (!(error instanceof StaleError)) throw error;
        // the ref has moved since it was asked for: once more, from where it is now
        return once(signal);
      });
      problem = null;
    } catch (error) {
      if (!stop.signal.aborted) report(late.aborted ? `it took longer than ${ms / 1000} s.` : wordsOf(error));
    } finally {
      current = null;
    }
  }

  function report(words: string): void {
    const sentence = `Work that is not pushed could not be saved: ${words}`;
    if (sentence !== problem) log.say(sentence);
    problem = sentence;
  }

  async function once(signal: AbortSignal): Promise<void> {
    const workspaceGit = createWorkspaceGit({ settings, children }, signal);
    const look = await lookAt(workspaceGit, settings);
    if (look.fingerprint !== null && look.fingerprint === settled) return;
    const credential = await fetchCredential(settings, settings.token, signal, "saved");
    const { ids, tip, saved: there, format } = await askRefs(settings, credential, signal);
    if (there !== null && !own.includes(there)) earlier = there;
    const needles = createNeedles(allSecrets());
    if (needles.id !== needlesId) clean.clear();
    needlesId = needles.id;
    const known = { ids, tip, saved: there, earlier };
    const before = sent > KEPT_MAX_BYTES ? null : kept;
    if (before === null) sent = 0;
    // whatever goes wrong from here on, the next save begins anew
    kept = null;
    const draft = { workspaceGit, settings, needles, clean, known, kept: before };
    const taken = await takeSnapshot(draft, look).catch(async (error: unknown) => {
      await removeFolder(workspaceGit, settings).catch(() => {});
      throw error;
    });
    const { snapshot } = taken;
    const to =
      snapshot && last && isSame(snapshot, last) && there === last.commit ? there : commitOf(snapshot);
    if (to !== there) {
      if (to !== null && to !== earlier) remember(to);
      const pack = to === null ? null : counted(packOf(workspaceGit, snapshot?.objects ?? [], taken));
      await pushSaved(settings, credential, { from: there, to, format }, pack, signal);
      saved = snapshot ? { commit: snapshot.commit, at: new Date().toISOString() } : null;
      last = snapshot;
      log.say(
        snapshot
          ? `saved work that is not pushed as ${snapshot.commit}`
          : "all work is pushed: nothing is kept saved",
      );
    }
    const words = taken.leftOut.join("\n");
    if (words !== leftOut) for (const line of taken.leftOut) log.say(`not saved: ${line.trim()}`);
    leftOut = words;
    settled = look.fingerprint;
    kept = taken.kept;
  }

  async function* counted(pack: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const part of pack) {
      sent += part.length;
      yield part;
    }
  }

  /** All values that are or were secret in this sandbox. */
  function allSecrets(): ReadonlySet<string> {
    const own = OWN_SECRETS.flatMap((name) => settings.inherited[name] ?? []);
    for (const value of [settings.token, ...own, ...Object.values(context.secrets().env)]) secret.add(value);
    return secret;
  }

  /** What the ref is to name: with nothing to save, what an earlier life has left there. */
  function commitOf(snapshot: Snapshot | null): string | null {
    return snapshot?.commit ?? earlier;
  }

  function remember(commit: string): void {
    own.push(commit);
    if (own.length > OWN_MAX) own.shift();
  }
}

/** What saves may leave on the sandbox's disk for the next ones; then they begin anew. */
const KEPT_MAX_BYTES = 512 * 1024 * 1024;

function isSame(one: Pick<Snapshot, "tree" | "parents">, other: Pick<Snapshot, "tree" | "parents">): boolean {
  return one.tree === other.tree && one.parents.join() === other.parents.join();
}

/** A pack, as git makes it; one without objects too. @throws SaveError in the middle, when git fails */
async function* packOf(
  workspaceGit: WorkspaceGit,
  objects: readonly string[],
  { environment }: Taken,
): AsyncGenerator<Uint8Array> {
  const child = workspaceGit.stream(["pack-objects", "--stdout", "--quiet", "--delta-base-offset"], {
    stdin: Buffer.from(objects.map((id) => `${id}\n`).join("")),
    environment,
  });
  const errors = new Response(child.stderr).text();
  yield* child.stdout;
  await child.exited;
  if (child.exitCode !== 0) throw gitFailed("git could not pack the work", await errors);
}

function wordsOf(error: unknown): string {
  if (error instanceof SaveError || error instanceof CredentialError) return error.message;
  if (error instanceof StaleError) return "something else has changed what is saved meanwhile.";
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  if (code === "ENOSPC") return DISK_FULL;
  return code === "ENOENT" ? "git or the workspace is gone." : `${code}.`;
}
