import type { Api } from "./api.ts";
import type { Remote } from "./remote.ts";

/** CI as a team has it: it tests each branch of the merge queue that it sees on the git host, and reports to svc. */
export interface QueueCi {
  /** The commits that it has tested, and whether they passed. */
  results: ReadonlyMap<string, boolean>;
  /** Reports to a server, or another one, from now on. @param project its path */
  reportTo(call: Api["call"], project: string): void;
  stop(): Promise<void>;
}

const PAUSE_MS = 20;

/** @param passes whether a commit with these files passes */
export function startQueueCi(remote: Remote, passes: (files: ReadonlySet<string>) => boolean): QueueCi {
  const results = new Map<string, boolean>();
  const reported = new Set<string>();
  let server: { call: Api["call"]; project: string } | undefined;
  const stopping = new AbortController();
  const ended = run();
  return {
    results,
    reportTo(call, project) {
      server = { call, project };
      // what a server that died may not have recorded
      reported.clear();
    },
    async stop() {
      stopping.abort();
      await ended;
    },
  };

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      for (const sha of remote.commitsBelow("svc-queue")) await test(sha);
      await Bun.sleep(PAUSE_MS);
    }
  }

  async function test(sha: string): Promise<void> {
    if (reported.has(sha) || !server) return;
    let passed = results.get(sha);
    if (passed === undefined) {
      passed = passes(new Set(remote.git("ls-tree", "--name-only", sha).trim().split("\n")));
      results.set(sha, passed);
    }
    const body = { state: passed ? "success" : "failure", context: "test" };
    const { call, project } = server;
    const answer = await call("POST", `${project}/statuses/${sha}`, { body }).catch(() => null);
    if (answer?.status === 201) reported.add(sha);
  }
}
