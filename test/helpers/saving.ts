import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cloneWithRetries } from "../../daemon/git/clone.ts";
import { type Children, createChildren } from "../../daemon/process/children.ts";
import { restoreSaved } from "../../daemon/saved/restore.ts";
import { Saver } from "../../daemon/saved/saver.ts";
import { readSettings } from "../../daemon/settings.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { type GitHttpServer, serveGit } from "./git-http.ts";
import { createRepository, type Files, runGit, type TestRepository } from "./git-repo.ts";
import { CLI_TOKEN, leastEnvironment, type StandInApi, standInApi } from "./sandbox.ts";

/** One life of a sandbox, as far as work is saved: a clone and its saver. */
export interface Life {
  workspace: string;
  home: string;
  saver: Saver;
  /** The log. */
  said: string[];
  children: Children;
  save(): Promise<void>;
  git(...args: string[]): Promise<string>;
}

/** A session's repository behind a plain git server, and successive lives of its sandbox. */
export interface SavingBench extends Disposable {
  sessionId: string;
  ref: string;
  repository: TestRepository;
  server: GitHttpServer;
  api: StandInApi;
  /** A fresh clone; `restore`: with the saved work; `apart`: as root, with files of another user; `login`: of Codex. */
  life(options?: { restore?: boolean; secrets?: string[]; apart?: boolean; login?: string }): Promise<Life>;
  /** The commit of the ref of saved work; null: no ref. */
  saved(): Promise<string | null>;
  /** Why the last restore failed. */
  refusal: string | null;
}

/** Ids of a user and a group that exist on no system. */
const OTHER_USER = "48123:48124";

export async function startSaving(files: Files = { "a.txt": "1\n" }): Promise<SavingBench> {
  const folder = mkdtempSync(join(tmpdir(), "svc-saving-"));
  chmodSync(folder, 0o755);
  const sessionId = crypto.randomUUID();
  const ref = `refs/svc/saved/${sessionId}`;
  const repository = await createRepository(join(folder, "git/project.git"));
  await repository.write([{ name: "first", branch: sessionId, files }]);
  // the gateway shows the ref only to the daemon, and lets others fetch its commit
  for (const key of ["uploadpack.allowTipSHA1InWant", "uploadpack.allowReachableSHA1InWant"])
    await repository.git("config", key, "true");
  const server = serveGit(join(folder, "git"));
  const api = standInApi();
  let lives = 0;

  const bench: SavingBench = {
    sessionId,
    ref,
    repository,
    server,
    api,
    refusal: null,
    async saved() {
      const { stdout, code } = await runGit(repository.directory, ["rev-parse", "--verify", "--quiet", ref], {
        codes: [0, 1],
      });
      return code === 0 ? stdout.toString().trim() : null;
    },
    async life({ restore = false, secrets = [], apart = false, login } = {}) {
      const [workspace, home] = ["workspace", "home"].map((name) => join(folder, `${lives}-${name}`));
      if (workspace === undefined || home === undefined) throw new Error("no folder");
      lives++;
      mkdirSync(home, { recursive: true });
      const settings = readSettings(
        {
          ...leastEnvironment(sessionId),
          SVC_REPO_URL: `${server.origin}/project.git`,
          SVC_API_URL: `${api.origin}/v1`,
          SVC_CLI_TOKEN: CLI_TOKEN,
          SVC_PROJECT_AUTO_CLONE: "1",
          SVC_WORKSPACE: workspace,
          SVC_RUNTIME_HOME: home,
          ...(login !== undefined && { SVC_RUNTIME_NAME: "codex" }),
          ...(apart && process.getuid?.() === 0 && { SVC_RUNTIME_USER: OTHER_USER }),
        },
        null,
      );
      if (settings.user) chownSync(home, settings.user.uid, settings.user.gid);
      const children = createChildren();
      const said: string[] = [];
      const log = { info: (text: string) => void said.push(text), runtime() {} };
      const context = { settings, children, log, clone: "cloning" as const, error: null };
      await cloneWithRetries(context, AbortSignal.timeout(WAIT_LIMIT_MS));
      const env = {
        ...Object.fromEntries(secrets.map((value, index) => [`SECRET_${index}`, value])),
        ...(login !== undefined && { CODEX_AUTH_JSON: login }),
      };
      const saver = new Saver({ settings, children, log, secrets: () => ({ revision: "1", env }) });
      bench.refusal = null;
      const commit = restore ? await bench.saved() : null;
      if (commit !== null) {
        await restoreSaved({ settings, children }, commit, AbortSignal.timeout(WAIT_LIMIT_MS)).then(
          ({ earlier }) => saver.adopt(commit, earlier),
          (error: unknown) => {
            bench.refusal = String(error);
          },
        );
      }
      return {
        workspace,
        home,
        saver,
        said,
        children,
        save: () => saver.save(WAIT_LIMIT_MS),
        git: async (...args) => (await runGit(workspace, args)).stdout.toString("latin1"),
      };
    },
    [Symbol.dispose]() {
      server[Symbol.dispose]();
      api[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return bench;
}
