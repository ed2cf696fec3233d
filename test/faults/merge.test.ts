import { afterEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { MERGE_METHODS, type MergeMethod } from "../../src/contract/merge-method.ts";
import { MERGE_STEPS, type MergeStep } from "../../src/deps.ts";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { type Api, caller, databaseFor, makeFolder, spawnServer, startApi } from "../helpers/api.ts";
import { SEED, sample } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";
import { serverCommand } from "../helpers/server-command.ts";

/** Undone after each test, the newest first. */
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function makeRemote(diverged: boolean): Remote {
  const remote = new Remote();
  undo.push(() => remote.remove());
  remote.commit("main", { a: "1\n", b: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  remote.commit("work", { c: "1\n" });
  if (diverged) remote.commit("main", { b: "2\n" });
  return remote;
}

async function start(options: Parameters<typeof startApi>[0] = {}): Promise<Api> {
  const api = await startApi(options);
  undo.push(() => api.stop());
  return api;
}

/** A server that dies after a step of a merge, and a change request of `work`. */
async function startDying(step: string, remote: Remote) {
  const dataDir = makeFolder();
  const databaseUrl = await databaseFor(dataDir);
  const { child, url } = await spawnServer(serverCommand("dying"), {
    SVC_PORT: "0",
    SVC_DATA_DIR: dataDir,
    SVC_ALLOW_PRIVATE_REPOS: "1",
    SVC_LOG_LEVEL: "silent",
    TEST_DIE_AT: step,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
  });
  undo.push(() => child.kill("SIGKILL"));
  const token = await sendAdminCommand(dataDir, { verb: "token", email: "first@example.com", name: "t" });
  const call = caller(url, token ?? "");
  const project = (await call("POST", "/v1/projects", { body: { name: "p", repo_url: remote.url } })).body;
  const path = `/v1/projects/${project.project_id}/change-requests`;
  const opened = await call("POST", path, { body: { title: "t", head_ref: "work" } });
  expect(opened.status).toBe(201);
  const exited = child.exited.then(() => expect(child.signalCode).toBe("SIGKILL"));
  return { dataDir, path, call, exited };
}

/** How many commits `main` gets when it has diverged, and when it has not. */
const COMMITS: Readonly<Record<MergeMethod, { diverged?: number; ahead: number }>> = {
  merge: { diverged: 3, ahead: 2 },
  squash: { diverged: 1, ahead: 1 },
  rebase: { diverged: 2, ahead: 2 },
  "ff-only": { ahead: 2 },
};
const rows = MERGE_METHODS.flatMap((method) =>
  MERGE_STEPS.flatMap((step) =>
    [false, true]
      .filter((diverged) => !diverged || COMMITS[method].diverged !== undefined)
      .map((diverged) => [method, step, diverged] as const),
  ),
);

const isAfterPush = (step: MergeStep) => MERGE_STEPS.indexOf(step) >= MERGE_STEPS.indexOf("pushed");
/** Two in each run: one before the push, and one from then on. */
const KILLED = [false, true].flatMap((isPushed) =>
  sample(
    1,
    rows.filter(([, step]) => isAfterPush(step) === isPushed),
  ),
);
/** Every other one is to delete the branch. */
const DRAWN = KILLED.map((row, index) => [...row, (index + SEED) % 2 === 0] as const);

/** Files that a killed git leaves in a mirror. */
const LOCKS = [
  "packed-refs.lock",
  "HEAD.lock",
  "config.lock",
  "refs/heads/main.lock",
  "objects/info/commit-graph.lock",
];

test.each(DRAWN)(
  "%s, killed after %s (diverged: %p, deletes the branch: %p): rows and repository agree",
  async (method, step, diverged, deletes) => {
    const body = { method, delete_branch: deletes };
    const remote = makeRemote(diverged);
    const [base, head] = [remote.sha("main"), remote.sha("work")];
    const { dataDir, path, call, exited } = await startDying(step, remote);
    await expect(call("POST", `${path}/1/merge`, { body })).rejects.toThrow();
    await exited;

    const pushed = isAfterPush(step);
    expect(remote.sha("main") !== base).toBe(pushed);
    const landed = remote.sha("main");
    await leaveLocks(dataDir);

    const api = await start({ dataDir });
    const read = (await api.call("GET", `${path}/1`)).body.change_request;
    expect(read.status).toBe(pushed ? "merged" : "open");
    // it is deleted only by a merge that has succeeded
    expect(remote.sha("work")).toBe(head);
    if (!pushed) {
      const merged = await api.call("POST", `${path}/1/merge`, { body });
      expect([merged.status, merged.body.head_branch?.deleted ?? false]).toEqual([200, deletes]);
    }
    expect(await api.call("POST", `${path}/1/merge`, { body })).toMatchObject({
      status: 409,
      body: { code: "not_open" },
    });

    const after = (await api.call("GET", `${path}/1`)).body.change_request;
    expect(after).toMatchObject({
      status: "merged",
      merge_method: method,
      base_commit_sha: base,
      head_commit_sha: head,
      merge_commit_sha: remote.sha("main"),
    });
    if (pushed) expect(remote.sha("main")).toBe(landed);
    const { diverged: many, ahead } = COMMITS[method];
    expect(remote.git("rev-list", "--count", `${base}..main`).trim()).toBe(String(diverged ? many : ahead));
    const merges = method === "merge" && diverged ? "1" : "0";
    expect(remote.git("rev-list", "--count", "--merges", "main").trim()).toBe(merges);
    expect(remote.git("show", "main:a", "main:c")).toBe("2\n1\n");
    remote.git("fsck", "--strict");
    expect((await api.call("GET", `${path}/1/diff`)).body.files).toHaveLength(2);
    // Nothing that a read would stumble over is left behind.
    expect(
      readdirSync(dataDir, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".lock")),
    ).toEqual([]);
  },
);

/** Leaves locks in the only mirror, as if a git had been killed while it held them. */
async function leaveLocks(dataDir: string): Promise<void> {
  const mirrors = join(dataDir, "mirrors");
  const mirror = readdirSync(mirrors).find((name) => name.endsWith(".git"));
  if (!mirror) throw new Error("no mirror");
  for (const lock of LOCKS) await Bun.write(join(mirrors, mirror, lock), "");
}
