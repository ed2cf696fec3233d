import { expect, test } from "bun:test";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SvcError } from "../../src/contract/errors.ts";
import type { Git } from "../../src/git/git.ts";
import { serveGit } from "../helpers/git-http.ts";
import { createRepository, createTestGit, type TestRepository, temporary } from "../helpers/git-repo.ts";

test("a push moves the branch, and repeating it succeeds", async () => {
  await using place = await start();
  const { base, head, git, repo } = place;
  const push = { branch: "main", from: base, to: head };
  expect(await git.push(repo, push)).toEqual({ outcome: "moved" });
  expect(await git.push(repo, push)).toEqual({ outcome: "moved" });
  expect(await place.upstream.git("rev-parse", "refs/heads/main")).toBe(head);
});

test("a branch that moved, was reset or was deleted is stale, and nothing changes", async () => {
  await using place = await start();
  const { base, head, other, root, git, repo } = place;
  await place.upstream.git("update-ref", "refs/heads/main", other);
  expect(await git.push(repo, { branch: "main", from: base, to: head })).toEqual({ outcome: "stale" });
  await place.upstream.git("update-ref", "refs/heads/main", root);
  expect(await git.push(repo, { branch: "main", from: base, to: head })).toEqual({ outcome: "stale" });
  await place.upstream.git("update-ref", "-d", "refs/heads/main");
  expect(await git.push(repo, { branch: "main", from: base, to: head })).toEqual({ outcome: "stale" });
  expect(await place.upstream.git("for-each-ref", "refs/heads/main")).toBe("");
});

test("a deletion is a compare-and-swap, too", async () => {
  await using place = await start();
  const { base, head, git, repo } = place;
  await place.upstream.git("update-ref", "refs/heads/aside", base);
  const remove = (from: string) => git.push(repo, { branch: "aside", from, to: null });
  expect(await remove(head)).toEqual({ outcome: "stale" });
  expect(await place.upstream.git("rev-parse", "refs/heads/aside")).toBe(base);
  expect(await remove(base)).toEqual({ outcome: "moved" });
  expect(await place.upstream.git("for-each-ref", "refs/heads/aside")).toBe("");
});

test("moves only the branch with the exact name, also if another name ends with it", async () => {
  await using place = await start();
  const { base, head, other, git, repo } = place;
  await place.upstream.git("update-ref", "refs/heads/refs/heads/main", other);
  expect(await git.push(repo, { branch: "main", from: other, to: head })).toEqual({ outcome: "stale" });
  expect(await git.push(repo, { branch: "main", from: base, to: head })).toEqual({ outcome: "moved" });
  const at = (ref: string) => place.upstream.git("rev-parse", ref);
  expect(await Promise.all(["refs/heads/main", "refs/heads/refs/heads/main"].map(at))).toEqual([head, other]);
});

test("of twelve concurrent pushes one succeeds, the others are stale", async () => {
  await using place = await start();
  const { base, git, repo } = place;
  const merges = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      git.writeMerge(repo, {
        base,
        head: place.other,
        message: `racer ${index}`,
        identity: { name: "svc", email: "a@b" },
        date: new Date(0),
      }),
    ),
  );
  const outcomes = await Promise.all(
    merges.map((merge) =>
      git.push(repo, { branch: "main", from: base, to: "commit" in merge ? merge.commit : "" }),
    ),
  );
  const tally = outcomes.map(({ outcome }) => outcome).sort();
  expect(tally).toEqual(["moved", ...Array<"stale">(11).fill("stale")]);
});

test.each(["pre-receive", "update"])(
  "returns the rejection message of a %s hook, sanitized and truncated",
  async (hook) => {
    await using place = await start();
    const says = `printf 'Branch is \\033[31mprotected\\033[0m: ask https://u:pw@host/x\\n' >&2; head -c 9000 /dev/zero | tr '\\0' z >&2; exit 1`;
    await placeHook(place.upstream, hook, says);
    const outcome = await place.git.push(place.repo, { branch: "main", from: place.base, to: place.head });
    expect(outcome.outcome).toBe("rejected");
    const reason = "reason" in outcome ? outcome.reason : "";
    expect(reason).toContain("hook declined");
    expect(reason).toContain("Branch is protected: ask https://host/x");
    expect(reason).not.toContain("\u001b");
    expect(Buffer.byteLength(reason)).toBeLessThan(2100);
    expect(await place.upstream.git("rev-parse", "refs/heads/main")).toBe(place.base);
  },
);

test("403 is a rejection; 401, 404 and no response before anything was sent are unreachable", async () => {
  await using place = await start();
  let status = 403;
  using server = serveGit(place.directory, () => new Response("no", { status }));
  const repo = { ...place.repo, url: `${server.origin}/up` };
  // the mirror belongs to another URL, so it is filled from there first
  const fill = await place.git.ensureCommits(repo, [place.base]).catch((error: SvcError) => error);
  expect(fill).toMatchObject({ code: "repo_unreachable" });
  await using ready = await overHttp(place, () => (status === 200 ? null : new Response("no", { status })));
  for (const [answer, expected] of [
    [401, "repo_unreachable"],
    [404, "repo_unreachable"],
  ] as const) {
    status = answer;
    const error = await ready.git
      .push(ready.repo, { branch: "main", from: place.base, to: place.head })
      .catch((e: SvcError) => e);
    expect(error).toMatchObject({ code: expected });
  }
  status = 403;
  const outcome = await ready.git.push(ready.repo, { branch: "main", from: place.base, to: place.head });
  expect(outcome).toMatchObject({ outcome: "rejected" });
  status = 200;
  expect(await ready.git.push(ready.repo, { branch: "main", from: place.base, to: place.head })).toEqual({
    outcome: "moved",
  });
});

test("a lost response is unknown, and a retry settles it", async () => {
  await using place = await start();
  let lose = true;
  await using ready = await overHttp(place, async (request) => {
    if (!lose || request.method !== "POST" || !request.url.endsWith("/git-receive-pack")) return null;
    const body = await request.arrayBuffer();
    // the probe that git sends before the real one
    if (body.byteLength <= 4) return null;
    lose = false;
    await fetch(request.url, { method: "POST", headers: request.headers, body });
    return new Response("lost", { status: 502 });
  });
  const push = { branch: "main", from: place.base, to: place.head };
  expect(await ready.git.push(ready.repo, push)).toMatchObject({ outcome: "unknown" });
  expect(await ready.git.push(ready.repo, push)).toEqual({ outcome: "moved" });
});

test("a push past its deadline is unknown", async () => {
  await using place = await start({ pushMs: 400 });
  await placeHook(place.upstream, "pre-receive", "sleep 5");
  const outcome = await place.git.push(place.repo, { branch: "main", from: place.base, to: place.head });
  expect(outcome).toMatchObject({ outcome: "unknown" });
});

test("pushes odd branch names unchanged", async () => {
  await using place = await start();
  for (const branch of ["$(id)", "`x`", '"', "ünï", "@", "heads/main", "%2e", "a;b"]) {
    await place.upstream.git("update-ref", `refs/heads/${branch}`, place.base);
    expect(await place.git.push(place.repo, { branch, from: place.base, to: place.head })).toEqual({
      outcome: "moved",
    });
    expect(await place.upstream.git("rev-parse", `refs/heads/${branch}`)).toBe(place.head);
  }
});

interface Place extends AsyncDisposable {
  directory: string;
  upstream: TestRepository;
  git: Git;
  repo: { id: string; url: string; credential: null };
  root: string;
  base: string;
  head: string;
  other: string;
}

async function start(limits = {}): Promise<Place> {
  const directory = await temporary();
  const upstream = await createRepository(join(directory.path, "up"));
  const ids = await upstream.write([
    { name: "root", files: { f: "0" } },
    { name: "base", branch: "main", parents: ["root"], files: { f: "1" } },
    { name: "head", branch: "head", parents: ["base"], files: { f: "2" } },
    { name: "other", branch: "other", parents: ["root"], files: { f: "0", g: "3" } },
  ]);
  const { root = "", base = "", head = "", other = "" } = ids;
  const engine = await createTestGit({ dataDir: join(directory.path, "data"), limits });
  const repo = { id: crypto.randomUUID(), url: upstream.url, credential: null };
  await engine.git.ensureCommits(repo, Object.values(ids));
  return {
    directory: directory.path,
    upstream,
    git: engine.git,
    repo,
    root,
    base,
    head,
    other,
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** The same repository over http, with its commits in a mirror; `before` counts from then on. */
async function overHttp(
  place: Place,
  before: (request: Request) => Response | null | Promise<Response | null>,
) {
  let filled = false;
  const server = serveGit(place.directory, (request) => (filled ? before(request) : null));
  const engine = await createTestGit({ dataDir: join(place.directory, "data-http") });
  const repo = engine.repo(`${server.origin}/up`);
  await engine.git.ensureCommits(repo, [place.base, place.head]);
  filled = true;
  return {
    git: engine.git,
    repo,
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      server[Symbol.dispose]();
    },
  };
}

async function placeHook(upstream: TestRepository, name: string, script: string): Promise<void> {
  const file = join(upstream.directory, "hooks", name);
  await Bun.write(file, "");
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}
