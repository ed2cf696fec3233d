import { afterAll, beforeAll, describe, expect } from "bun:test";
import { renameSync } from "node:fs";
import { sql } from "drizzle-orm";
import {
  type GatewayBench,
  type Place,
  refsOf,
  runClient,
  type SessionOf,
  scratch,
  startGateway,
} from "../helpers/gateway.ts";
import { createRepository, createTestGit, type TestRepository } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);

let bench: GatewayBench;
let repository: TestRepository;
let commits: Record<string, string>;
const work = scratch();

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startGateway();
  repository = await createRepository(work.path);
  commits = await repository.write([
    { name: "M", branch: "main", files: { a: "1\n" } },
    { name: "W", parents: ["M"], files: { a: "2\n", new: "n\n" } },
    { name: "V", parents: ["M"], files: { a: "3\n" } },
  ]);
});
afterAll(async () => {
  await bench?.stop();
  work[Symbol.dispose]();
});

/** A session whose branch is pushed, with what saves its work. */
async function begin(
  place: Place,
): Promise<{ session: SessionOf; ref: string; saver: string; path: string }> {
  const session = await bench.session(place);
  const { project_id } = place.project;
  const { body } = await bench.api.call(
    "GET",
    `/v1/projects/${project_id}/git/clone-credential?scope=saved`,
    {
      token: session.serviceKey,
    },
  );
  const own = bench.url(place, session.cloneCredential);
  expect(
    (await runClient(work.path, "push", "-q", own, `${commits["M"]}:refs/heads/${session.branch}`)).code,
  ).toBe(0);
  return {
    session,
    ref: `refs/svc/saved/${session.id}`,
    saver: bench.url(place, body.auth.token),
    path: `/v1/projects/${project_id}/sessions/${session.id}`,
  };
}

const push = (url: string, ...specs: string[]) =>
  runClient(work.path, "push", "-q", "--force", url, ...specs);
const savedOf = async (path: string) => (await bench.api.call("GET", path)).body.saved;

test("only a sandbox's key gets the credential for saved work", async () => {
  const session = await bench.session(bench.hosted);
  const path = `/v1/projects/${bench.hosted.project.project_id}/git/clone-credential`;
  const ask = async (token: string, query: string) =>
    (await bench.api.call("GET", path + query, { token })).status;
  expect(await ask(session.serviceKey, "?scope=saved")).toBe(200);
  expect(await ask(session.token, "?scope=saved")).toBe(403);
  expect(await ask(bench.api.token, "?scope=saved")).toBe(403);
  expect(await ask(session.serviceKey, "?scope=all")).toBe(400);
});

test("a push of saved work reports a full disk", async () => {
  const { ref, saver, path } = await begin(bench.hosted);
  await bench.db.execute(sql`create function no_room() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`);
  await bench.db.execute(
    sql`create trigger no_room before update of saved_commit on project_sessions execute function no_room()`,
  );
  const refused = await push(saver, `${commits["W"]}:${ref}`);
  await bench.db.execute(sql`drop function no_room cascade`);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.err).toContain("the server's disk is full: try again when an operator has freed space");
  expect((await push(saver, `${commits["V"]}:${ref}`)).code).toBe(0);
  expect((await savedOf(path)).commit).toBe(commits["V"]);
});

for (const kind of ["hosted", "external"] as const) {
  describe(`${kind} repository`, () => {
    test("saved work can be created, moved and deleted; the session shows it, and clients do not see its ref", async () => {
      const { ref, saver, path, session } = await begin(bench[kind]);
      expect(await savedOf(path)).toBeNull();
      expect((await bench.api.call("GET", `${path}/saved`)).status).toBe(404);

      expect(await push(saver, `${commits["W"]}:${ref}`)).toMatchObject({ code: 0 });
      expect(await savedOf(path)).toMatchObject({ commit: commits["W"], files: 2, live: true });
      const { body } = await bench.api.call("GET", `${path}/saved`);
      expect(body).toMatchObject({
        commit: commits["W"],
        base: commits["M"],
        truncated: false,
        message: "W",
      });
      expect(body.files.map((file: { path: string }) => file.path)).toEqual(["a", "new"]);
      const patch = await fetch(new URL(`${path}/saved`, bench.api.url), {
        headers: { Authorization: `Bearer ${bench.api.token}`, Accept: "text/x-diff" },
      });
      expect(await patch.text()).toBe(body.patch);
      const { out } = await runClient(
        work.path,
        "diff",
        "--full-index",
        "--binary",
        `${commits["M"]}..${commits["W"]}`,
      );
      expect(body.patch).toBe(out);

      expect(await push(saver, `${commits["V"]}:${ref}`)).toMatchObject({ code: 0 });
      expect(await savedOf(path)).toMatchObject({ commit: commits["V"], files: 1 });
      for (const credential of [bench.api.token, session.token, session.cloneCredential])
        expect(
          (await runClient(work.path, "ls-remote", bench.url(bench[kind], credential))).out,
        ).not.toContain(ref);
      // a user with read access to the project can fetch saved work by its id
      const place = scratch();
      await runClient(place.path, "init", "-q");
      const own = bench.url(bench[kind], session.cloneCredential);
      expect(await runClient(place.path, "fetch", "-q", own, commits["V"] ?? "")).toMatchObject({ code: 0 });
      place[Symbol.dispose]();

      expect(await push(saver, `:${ref}`)).toMatchObject({ code: 0 });
      expect(await savedOf(path)).toBeNull();
    });
  });
}

describe("a git host", () => {
  test("gets the ref, too; a re-created mirror gets it from there", async () => {
    const place = bench.external;
    const { ref, saver, path } = await begin(place);
    await push(saver, `${commits["W"]}:${ref}`);
    await until("the host has it", async () => (await refsOf(place.directory))[ref] === commits["W"]);
    await push(saver, `${commits["V"]}:${ref}`);
    await until("the host has the next", async () => (await refsOf(place.directory))[ref] === commits["V"]);
    // fetches that prune what the host has not leave it alone
    await runClient(work.path, "ls-remote", bench.url(place, bench.api.token));
    expect((await bench.api.call("GET", `${path}/saved`)).body.commit).toBe(commits["V"]);
    const folder = scratch();
    const { git: fresh, repo: repoOf } = await createTestGit({ dataDir: folder.path });
    const repo = repoOf(`file://${place.directory}`);
    expect(await fresh.ensureCommits(repo, [commits["V"] ?? ""])).toBe(false);
    expect(await fresh.ensureOwn(repo, ref, commits["V"] ?? "")).toBe(true);
    expect(await fresh.ensureOwn(repo, ref, "1".repeat(40))).toBe(false);
    await fresh.close();
    folder[Symbol.dispose]();
  });

  test("that is unreachable does not prevent saving work", async () => {
    const place = bench.external;
    const { saver, ref, path } = await begin(place);
    renameSync(place.directory, `${place.directory}-away`);
    try {
      expect(await push(saver, `${commits["W"]}:${ref}`)).toMatchObject({ code: 0 });
      expect(await savedOf(path)).toMatchObject({ commit: commits["W"], files: null });
    } finally {
      renameSync(`${place.directory}-away`, place.directory);
    }
    expect((await bench.api.call("GET", `${path}/saved`)).body).toMatchObject({ base: commits["M"] });
  });

  test("that rejects such refs does not matter: svc's mirror has the ref", async () => {
    const place = bench.external;
    await runClient(place.directory, "config", "receive.hideRefs", "refs/svc");
    try {
      const { ref, saver, path } = await begin(place);
      expect(await push(saver, `${commits["W"]}:${ref}`)).toMatchObject({ code: 0 });
      await runClient(work.path, "ls-remote", bench.url(place, bench.api.token));
      expect((await bench.api.call("GET", `${path}/saved`)).body.commit).toBe(commits["W"]);
      expect((await refsOf(place.directory))[ref]).toBeUndefined();
      expect(await push(saver, `:${ref}`)).toMatchObject({ code: 0 });
      expect(await savedOf(path)).toBeNull();
    } finally {
      await runClient(place.directory, "config", "--unset-all", "receive.hideRefs");
    }
  });
});
