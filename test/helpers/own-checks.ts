import type { Check, CheckLog } from "../../src/contract/check.ts";
import type { DaemonCheckResult } from "../../src/contract/daemon.ts";
import { parseJson } from "../../src/contract/json.ts";
import type { Answer } from "./api.ts";
import type { Remote } from "./remote.ts";
import type { StandIn, StandInProvider } from "./stand-in-provider.ts";
import { until } from "./until.ts";

/** Operations of the tests of checks that svc runs. */
export interface CheckBench {
  /** Below the project's path. */
  project(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  /** Commits a manifest to the default branch, and waits until svc has read it. */
  rule(manifest: string): Promise<void>;
  /** Opens a change request of a new branch with one commit. */
  open(files?: Record<string, string>): Promise<{ number: number; head: string; sha: string }>;
  /** Pushes to a branch, as people do to a git host, and has svc list its branches. */
  push(branch: string, files: Record<string, string>): Promise<string>;
  /** Waits until a check of a change request is in one of these states. */
  becomes(number: number, name: string, ...states: Check["state"][]): Promise<Check>;
  log(check: Check): Promise<CheckLog>;
}

/** A manifest with these checks. */
export const manifestOf = (...checks: string[]): string =>
  `svc_version = 1\n${checks.map((check) => `[[checks]]\n${check}\n`).join("")}`;

/** @param server with a project on the remote, which it is not notified of pushes to */
export function benchChecks(server: {
  projectId: string;
  remote: Remote;
  call(method: string, path: string, options?: { body?: unknown; token?: string }): Promise<Answer>;
}): CheckBench {
  const { remote, projectId } = server;
  let branches = 0;
  const project: CheckBench["project"] = (method, path, body, token) =>
    server.call(method, `/v1/projects/${projectId}${path}`, {
      ...(body !== undefined && { body }),
      ...(token !== undefined && { token }),
    });
  const listBranches = () => project("PATCH", "", { default_branch: "main" });
  return {
    project,
    async rule(manifest) {
      const commit = remote.commit("main", { "svc.toml": manifest });
      await listBranches();
      await until(
        "the manifest is read",
        async () => (await project("GET", "/triggers")).body.commit === commit,
      );
    },
    async open(files) {
      const head = `work-${++branches}`;
      const sha = remote.commit(head, files ?? { [head]: "1\n" }, { from: "main" });
      const made = await project("POST", "/change-requests", { title: "t", head_ref: head });
      if (made.status !== 201) throw new Error(`no change request: ${made.text}`);
      return { number: made.body.number, head, sha };
    },
    async push(branch, files) {
      const sha = remote.commit(branch, files);
      await listBranches();
      return sha;
    },
    async becomes(number, name, ...states) {
      let last: Check | undefined;
      await until(
        () => `the check ${name} is ${states.join(" or ")}, and not ${JSON.stringify(last)}`,
        async () => {
          const { body } = await project("GET", `/change-requests/${number}/checks`);
          last = body.checks.find((check: Check) => check.name === name);
          return last !== undefined && states.includes(last.state);
        },
      );
      if (!last) throw new Error("the check is gone");
      return last;
    },
    log: async ({ check_id }) => (await project("GET", `/checks/${check_id}/log`)).body,
  };
}

/** What the daemon of a stand-in sandbox was told to run. */
export function appOf({ environment }: StandIn): {
  commit: string;
  check: { name: string; command: string; timeoutMs: number };
} {
  // biome-ignore lint/suspicious/noExplicitAny: svc itself wrote it
  return parseJson(environment["SVC_APP"] ?? "null") as any;
}

/** Waits for the sandbox of a check. */
export async function sandboxOf(provider: StandInProvider, name: string, sha: string): Promise<StandIn> {
  let found: StandIn | undefined;
  await until(
    () => `${name} of ${sha} has a sandbox`,
    () => {
      found = [...provider.sandboxes.values()].find((each) => {
        const app = appOf(each);
        return app?.check?.name === name && app.commit === sha && each.sandbox.state === "running";
      });
      return found !== undefined;
    },
  );
  if (!found) throw new Error("no sandbox");
  return found;
}

/** The command of a stand-in sandbox ends. */
export function endCommand(standIn: StandIn, result: Partial<DaemonCheckResult> = {}): void {
  standIn.health = {
    ...standIn.health,
    check: { exit_code: 0, signal: null, timed_out: false, duration_ms: 3_000, ...result },
  };
}
