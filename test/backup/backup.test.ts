import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Database, openEmbedded, openPostgres } from "../../db/client.ts";
import { fixTextForms, rowsOf, shapeOf } from "../../db/dump.ts";
import type { Config } from "../../src/config.ts";
import { runBackup } from "../../src/edge/admin/backup.ts";
import { runRestore } from "../../src/edge/admin/restore.ts";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { purposeOf } from "../../src/features/secrets/row.ts";
import { open } from "../../src/open.ts";
import { serve } from "../../src/serve.ts";
import { caller } from "../helpers/api.ts";
import { runClient } from "../helpers/gateway.ts";
import { runGit } from "../helpers/git-repo.ts";
import { testConfig } from "../helpers/isolation.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, createEmptyDatabase, POSTGRES } from "../helpers/postgres.ts";
import { sample } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-backup-"));
/** Undone at the end, the newest first. */
const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

const NEVER = new AbortController().signal;
/** While backups are taken, on a real Postgres and on the embedded database, which is many times slower under load. */
const MERGES = { postgres: 3, embedded: 1 };

/** An embedded database takes seconds to open, so each run draws one of its two backups. */
const BACKUPS = ["loaded", "quiet"] as const;
const kinds = [
  { kind: "the embedded database", test, backups: sample(1, BACKUPS) },
  { kind: "a real Postgres", test: needs("a real Postgres", POSTGRES), backups: BACKUPS },
] as const;

for (const { kind, test, backups } of kinds) {
  test(`a backup under load is one moment of the server, and a quiet one is equal (${kind})`, async () => {
    const isPostgres = kind === "a real Postgres";
    const config = await settings(isPostgres, "source");
    const server = await serve(config);
    let isStopped = false;
    const stop = async () => {
      if (!isStopped) await server.stop();
      isStopped = true;
    };
    undo.push(stop);
    const { call, project, clone } = await populate(config, server.url);

    // pushes, merges and secrets go on until the backups are there
    let isOver = false;
    let merged = 0;
    const merges = isPostgres ? MERGES.postgres : MERGES.embedded;
    const working = Promise.all([
      (async () => {
        for (let n = 1; !isOver || merged < merges; n++) {
          await pushBranch(clone, n);
          const path = `/v1/projects/${project}/change-requests`;
          const opened = await call("POST", path, { body: { title: `CR ${n}`, head_ref: `work-${n}` } });
          expect(opened.status).toBe(201);
          const done = await call("POST", `${path}/${opened.body.number}/merge`);
          expect([200, 409]).toContain(done.status);
          if (done.status === 200) merged++;
        }
      })(),
      (async () => {
        // one for each merge: the embedded database would have no time for anything else
        for (let n = 1; !isOver; n++) {
          const set = await call("PUT", `/v1/projects/${project}/secrets/SECRET_${n % 20}`, {
            body: { value: `value ${n}` },
          });
          expect(set.status).toBe(200);
          const seen = merged;
          await until("another merge, or the end", () => isOver || merged > seen);
        }
      })(),
    ]);
    const taken: string[] = [];
    const names = isPostgres ? ["first", "second"] : ["first"];
    for (const name of backups.includes("loaded") ? names : []) {
      const before = merged;
      await Promise.race([until("another merge", () => merged > before), working]);
      const out = join(folder, `${isPostgres}-${name}.tar`);
      await runBackup(config, { out, withKey: true }, NEVER);
      taken.push(out);
    }
    isOver = true;
    await working;
    for (const [index, from] of taken.entries()) {
      const target = await settings(isPostgres, `loaded-${index}`);
      await runRestore(target, from, NEVER);
      await checkRepositories(target);
      await checkMoment(target, project);
    }

    await stop();
    if (!backups.includes("quiet")) return;
    const quiet = join(folder, `${isPostgres}-quiet.tar`);
    const rows = await allRows(config);
    const refs = await allRefs(config);
    await runBackup(config, { out: quiet, withKey: true }, NEVER);
    const target = await settings(isPostgres, "equal");
    await runRestore(target, quiet, NEVER);
    expect(await allRows(target)).toEqual(rows);
    expect(await allRefs(target)).toEqual(refs);
    const mirrored = Object.entries(refs).filter(([name]) => name.startsWith("mirrors/"));
    expect(mirrored.map(([, list]) => list)).toEqual([expect.stringContaining("refs/cr/1/merge")]);
    expect(readFileSync(join(target.dataDir, "server-id"))).toEqual(
      readFileSync(join(config.dataDir, "server-id")),
    );
  });
}

async function settings(isPostgres: boolean, name: string): Promise<Config> {
  const isSource = name === "source";
  const database = isPostgres ? await (isSource ? createDatabase() : createEmptyDatabase()) : null;
  if (database) undo.push(() => database.drop());
  return testConfig({
    SVC_PORT: "0",
    SVC_DATA_DIR: join(folder, `${isPostgres}-${name}`),
    SVC_ALLOW_PRIVATE_REPOS: "1",
    SVC_LOG_LEVEL: "error",
    SVC_SANDBOX_PROVIDER: "local",
    ...(database && { DATABASE_URL: database.url }),
  });
}

/** A user with a project that svc hosts, and one whose repository is on a git host. */
async function populate(config: Config, url: string) {
  const token = await sendAdminCommand(config.dataDir, { verb: "token", email: "a@example.com", name: "t" });
  const call = caller(url, token ?? "");
  const made = await call("POST", "/v1/projects", { body: { name: "Hosted" } });
  expect(made.status).toBe(201);
  const project: string = made.body.project_id;
  const clone = mkdtempSync(join(folder, "clone-"));
  await runGit(clone, ["init", "--quiet", "--initial-branch=main"]);
  await runGit(clone, [
    "remote",
    "add",
    "origin",
    `${url.replace("://", `://x:${token}@`)}/v1/git/${project}.git`,
  ]);
  writeFileSync(join(clone, "README"), "hello\n");
  await commitAll(clone, "first");
  expect((await runClient(clone, "push", "--quiet", "origin", "main")).code).toBe(0);

  const remote = new Remote();
  undo.push(() => remote.remove());
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  const other = await call("POST", "/v1/projects", { body: { name: "Mirrored", repo_url: remote.url } });
  const path = `/v1/projects/${other.body.project_id}/change-requests`;
  expect((await call("POST", path, { body: { title: "t", head_ref: "work" } })).status).toBe(201);
  expect((await call("POST", `${path}/1/merge`)).status).toBe(200);
  // the host forgets the branch: only svc keeps its commits
  remote.git("branch", "-D", "work");
  return { call, project, clone };
}

async function pushBranch(clone: string, n: number): Promise<void> {
  await runGit(clone, ["switch", "--quiet", "--force-create", `work-${n}`, "main"]);
  writeFileSync(join(clone, `file-${n}`), `${n}\n`.repeat(100));
  await commitAll(clone, `work ${n}`);
  const pushed = await runClient(clone, "push", "--quiet", "origin", `work-${n}`);
  expect(pushed.code).toBe(0);
}

async function commitAll(clone: string, message: string): Promise<void> {
  await runGit(clone, ["add", "--all"]);
  await runGit(clone, [
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@example.com",
    "commit",
    "--quiet",
    "-m",
    message,
  ]);
}

async function allRows(config: Config): Promise<Record<string, string[]>> {
  const database = await openDatabase(config);
  try {
    return await database.transact("snapshot", async (query) => {
      const shape = await shapeOf(query);
      await fixTextForms(query);
      const rows: Record<string, string[]> = {};
      for (const table of shape?.tables ?? [])
        rows[`${table.schema}.${table.name}`] = (await Array.fromAsync(rowsOf(query, table))).sort();
      expect(Object.keys(rows).length).toBeGreaterThan(30);
      rows["sequences"] = (shape?.sequences ?? []).map(({ name, last }) => `${name} ${last}`).sort();
      return rows;
    });
  } finally {
    await database.close();
  }
}

async function openDatabase({ databaseUrl, dataDir }: Config): Promise<Database> {
  const options = { migrate: false };
  return databaseUrl === null
    ? await openEmbedded(join(dataDir, "postgres"), options)
    : await openPostgres(databaseUrl, options);
}

async function allRefs({ dataDir }: Config): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const kind of ["repositories", "mirrors"]) {
    for (const name of readdirSync(join(dataDir, kind))) {
      const { stdout } = await runGit(join(dataDir, kind, name), ["for-each-ref"]);
      const head = readFileSync(join(dataDir, kind, name, "HEAD"), "utf8");
      found[`${kind}/${name}`] = `${head}${stdout}`;
    }
  }
  return found;
}

async function checkRepositories({ dataDir }: Config): Promise<void> {
  let count = 0;
  for (const kind of ["repositories", "mirrors"])
    for (const name of readdirSync(join(dataDir, kind))) {
      const found = await runGit(join(dataDir, kind, name), ["fsck", "--full", "--strict"], {
        codes: [0, 8],
      });
      // until a client needs it, svc's mirrors have a HEAD that git does not know
      const lines = found.stderr.split("\n").filter((line) => line !== "" && !line.includes("refs/svc/none"));
      expect(lines.filter((line) => !/^notice:|^dangling/.test(line))).toEqual([]);
      count++;
    }
  expect(count).toBe(2);
}

/** After a start, which settles what was interrupted: rows and refs agree. */
async function checkMoment(config: Config, project: string): Promise<void> {
  const server = await serve(config);
  try {
    const token = await sendAdminCommand(config.dataDir, {
      verb: "token",
      email: "a@example.com",
      name: "t",
    });
    const call = caller(server.url, token ?? "");
    const list = await call("GET", `/v1/projects/${project}/change-requests?limit=200&status=all`);
    const requests: { number: number; status: string; merge_commit_sha: string | null }[] = [];
    for (const { number } of list.body.change_requests ?? list.body.items) {
      const read = await call("GET", `/v1/projects/${project}/change-requests/${number}`);
      expect(read.status).toBe(200);
      requests.push(read.body.change_request);
    }
    expect(requests.length).toBeGreaterThan(0);
    const [folderName = ""] = readdirSync(join(config.dataDir, "repositories"));
    const repository = join(config.dataDir, "repositories", folderName);
    const merges = (await runGit(repository, ["rev-list", "main"])).stdout.toString().split("\n");
    for (const request of requests) {
      const head = await runGit(repository, ["rev-parse", `refs/heads/work-${request.number}`]);
      const isIn = merges.includes(head.stdout.toString().trim());
      expect({ number: request.number, merged: request.status === "merged" }).toEqual({
        number: request.number,
        merged: isIn,
      });
      if (request.merge_commit_sha) expect(merges).toContain(request.merge_commit_sha);
    }
  } finally {
    await server.stop();
  }
  await checkSecrets(config, project);
}

/** The secrets can be opened with the restored key. */
async function checkSecrets(config: Config, project: string): Promise<void> {
  const opened = await open(config);
  try {
    const rows = await opened.database.transact("snapshot", (query) =>
      query(
        "select name::text as name, value as sealed from project_secrets where project_id::text = $1::text",
        [project],
      ),
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { name, sealed } of rows)
      expect(opened.keys.open(project, purposeOf(String(name)), String(sealed))).toStartWith("value ");
  } finally {
    await opened.close();
  }
}
