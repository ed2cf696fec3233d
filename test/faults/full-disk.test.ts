import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { caller, cleanEnvironment, spawnServer } from "../helpers/api.ts";
import { runClient, scratch } from "../helpers/gateway.ts";
import { createRepository } from "../helpers/git-repo.ts";
import { needs, succeeds } from "../helpers/needs.ts";
import { sample } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";
import { serverCommand } from "../helpers/server-command.ts";

const MAY_MOUNT = succeeds("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt");
const test = needs("root and unshare(1), to mount a small disk", MAY_MOUNT);

const DISK_FULL =
  "The server's disk is full, so nothing was stored. Try again when an operator has freed space.";
const COMMENT = { body: "x".repeat(60_000) };
/** Comments that fit into what the database has set aside. */
const COMMENTS_MAX = 100;

/** A server on the embedded database, all on a disk of its own that goes with it. */
const ON_A_DISK = `
mount -t tmpfs -o size="$TEST_DISK" none "$SVC_DATA_DIR" || exit
mkdir "$SVC_DATA_DIR/data" && export SVC_DATA_DIR="$SVC_DATA_DIR/data" || exit
exec "$@"`;
const onADisk = (script: string) => ["unshare", "--mount", "sh", "-c", script, "sh", ...serverCommand("api")];
/** A first start on a disk that is too small, and then on one that is not. */
const TWICE = ON_A_DISK.replace(
  'exec "$@"',
  '"$@" 2>"$TEST_FIRST"; mount -o remount,size=160m "$(dirname "$SVC_DATA_DIR")" && exec "$@"',
);
const FULL =
  "svc-api: The disk of the data folder (SVC_DATA_DIR) or of the database is full. Free some space, then start again.\n";

const folder = mkdtempSync(join(tmpdir(), "svc-disk-"));
const work = scratch();
const settings = (size: string) => ({
  SVC_PORT: "0",
  SVC_DATA_DIR: folder,
  SVC_LOG_LEVEL: "silent",
  SVC_SANDBOX_PROVIDER: "local",
  SVC_ALLOW_PRIVATE_REPOS: "1",
  TEST_DISK: size,
});

let server: Awaited<ReturnType<typeof spawnServer>>;
/** What its first start has printed, and the answer of its second. */
const first = `${folder}.first`;
let health: Response;
let token: string;
let call: ReturnType<typeof caller>;
/** A repository on a git host, and the change requests of its project. */
let remote: Remote;
let external: string;
/** The change requests of a project that svc hosts, the address of its repository, and the disk as it is seen here. */
let path: string;
let url: string;
let disk: string;

beforeAll(async () => {
  if (!MAY_MOUNT) return;
  server = await spawnServer(onADisk(TWICE), { ...settings("20m"), TEST_FIRST: first });
  health = await fetch(`${server.url}/v1/health`);
  disk = join("/proc", String(server.child.pid), "root", folder);
  token =
    (await sendAdminCommand(join(disk, "data"), { verb: "token", email: "a@example.com", name: "t" })) ?? "";
  call = caller(server.url, token);
  const { project_id } = (await call("POST", "/v1/projects", { body: { name: "Example" } })).body;
  path = `/v1/projects/${project_id}/change-requests`;
  url = `${server.url.replace("://", `://x:${token}@`)}/v1/git/${project_id}.git`;
  const repository = await createRepository(work.path);
  await repository.write([
    { name: "root", branch: "root", files: { a: "1\n", b: "1\n" } },
    { name: "main", branch: "main", parents: ["root"], files: { a: "2\n", b: "1\n" } },
    { name: "more", branch: "more", parents: ["root"], files: { a: "3\n" } },
    { name: "work", branch: "work", parents: ["root"], files: { a: "1\n", b: "2\n" } },
  ]);
  expect(await runClient(work.path, "push", url, "main", "work")).toMatchObject({ code: 0 });
  const opened = await call("POST", path, { body: { title: "Change b", head_ref: "work" } });
  expect(opened.status).toBe(201);
  remote = new Remote();
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  const made = await call("POST", "/v1/projects", { body: { name: "External", repo_url: remote.url } });
  external = `/v1/projects/${made.body.project_id}/change-requests`;
  expect((await call("POST", external, { body: { title: "Change a", head_ref: "work" } })).status).toBe(201);
  expect((await call("GET", `${external}/1/merge-preview`)).status).toBe(200);
  fill();
});
afterAll(async () => {
  await server?.stop();
  remote?.remove();
  work[Symbol.dispose]();
  for (const each of [folder, first]) rmSync(each, { recursive: true, force: true });
});

test("merge, comment, fetch and push report a full disk, and work again when there is space", async () => {
  const attempts: Record<string, () => Promise<unknown>> = {
    merge: async () => await call("POST", `${path}/1/merge`),
    comment: async () => {
      for (let count = 0; count < COMMENTS_MAX; count++) {
        const answer = await call("POST", `${path}/1/comments`, { body: COMMENT });
        if (answer.status !== 201) return answer;
      }
      return null;
    },
    "fetch of a branch": async () => {
      remote.branch("copy", "main");
      const headers = { Authorization: `Basic ${btoa(`x:${token}`)}`, Accept: "application/json" };
      const address = external.replace("projects", "git").replace("/change-requests", ".git");
      return await call("GET", `${address}/info/refs?service=git-upload-pack`, { headers });
    },
    "fetch of commits": async () => {
      remote.commit("work", { b: "2\n" });
      return await call("GET", `${external}/1/merge-preview`);
    },
  };
  const refused = { status: 507, body: { code: "disk_full", error: DISK_FULL } };
  for (const [what, attempt] of Object.entries(attempts)) {
    expect([what, await attempt()]).toEqual([what, expect.objectContaining(refused)]);
  }
  // one with new objects, and one that only makes a branch
  for (const branch of ["more", "root"]) {
    const pushed = await runClient(work.path, "push", url, branch);
    expect(pushed.code).toBe(1);
    expect(pushed.err).toContain("the server's disk is full: try again when an operator has freed space");
  }
  // nothing is half done
  expect((await call("GET", `${path}/1`)).body.change_request).toMatchObject({ status: "open" });
  expect((await runClient(work.path, "ls-remote", url, "root", "more")).out).toBe("");

  rmSync(join(disk, "fill"));
  expect(await runClient(work.path, "push", url, "root", "more")).toMatchObject({ code: 0 });
  expect((await call("POST", `${path}/1/comments`, { body: COMMENT })).status).toBe(201);
  expect((await call("POST", `${path}/1/merge`)).status).toBe(200);
  expect((await call("GET", `${external}/1/merge-preview`)).status).toBe(200);
});

test("a first start on a disk of 20m reports in one line that it is full, and does not block the next", () => {
  expect(readFileSync(first, "utf8")).toBe(FULL);
  expect(health.status).toBe(200);
});

test.each(sample(1, ["8k", "1m"]))(
  "a start on a disk of %s reports in one line that it is full",
  async (size) => {
    const dataDir = mkdtempSync(join(tmpdir(), "svc-disk-"));
    try {
      const child = Bun.spawn(onADisk(ON_A_DISK), {
        env: { ...cleanEnvironment(), ...settings(size), SVC_DATA_DIR: dataDir },
        stdout: "ignore",
        stderr: "pipe",
      });
      expect(await new Response(child.stderr).text()).toBe(FULL);
      expect(await child.exited).toBe(1);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
);

/** Takes all room that is left on the server's disk. */
function fill(): void {
  for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
    try {
      for (;;) writeFileSync(join(disk, "fill"), Buffer.alloc(size), { flag: "a" });
    } catch {
      // less may fit
    }
  }
}
