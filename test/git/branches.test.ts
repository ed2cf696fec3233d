import { expect, test } from "bun:test";
import { join } from "node:path";
import { readListing } from "../../src/git/remote/branches.ts";
import { serveGit } from "../helpers/git-http.ts";
import { createRepository, createTestGit, runGit, temporary } from "../helpers/git-repo.ts";

test("the listing matches git ls-remote, over file and http, in two requests and without other refs", async () => {
  await using directory = await temporary();
  const upstream = await createRepository(join(directory.path, "a b%.git"));
  const { one = "" } = await upstream.write([{ name: "one", branch: "main", files: { f: "1" } }]);
  for (let index = 0; index < 300; index++) await write(`refs/heads/b${index}`);
  for (const ref of [
    "refs/pull/1/head",
    "refs/tags/t",
    "refs/remotes/origin/HEAD",
    "refs/heads/heads/main",
    "refs/heads/ünï",
  ])
    await write(ref);
  await upstream.git("symbolic-ref", "refs/heads/alias", "refs/heads/main");
  await upstream.git("tag", "-a", "-m", "x", "annotated", one);
  await using engine = await createTestGit({ dataDir: join(directory.path, "data") });
  using server = serveGit(directory.path);
  const file = engine.repo(`file://${directory.path}/a%20b%25.git`);
  const http = engine.repo(`${server.origin}/a%20b%25.git`);
  for (const head of ["refs/heads/main", "refs/heads/unborn", one]) {
    if (head === one) await upstream.git("update-ref", "--no-deref", "HEAD", one);
    else await upstream.git("symbolic-ref", "HEAD", head);
    const listed = await runGit(directory.path, ["ls-remote", "--symref", upstream.directory]);
    const expected = readListing(listed.stdout);
    expect(expected.tips.size).toBe(304);
    expect(await engine.git.listBranches(file, 5000)).toEqual(expected);
    server.requests.length = 0;
    expect(await engine.git.listBranches(http, 5000)).toEqual(expected);
    expect(server.requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
  }

  async function write(ref: string): Promise<void> {
    await upstream.git("update-ref", ref, one);
  }
});

test("lists a host with an older protocol", async () => {
  await using directory = await temporary();
  const upstream = await createRepository(join(directory.path, "up"));
  const { one = "" } = await upstream.write([{ name: "one", branch: "main", files: { f: "1" } }]);
  await using engine = await createTestGit({ dataDir: join(directory.path, "data") });
  // the header for version 2 is dropped, as by an old proxy
  using server = serveGit(directory.path, (request) => {
    request.headers.delete("git-protocol");
    return null;
  });
  const branches = await engine.git.listBranches(engine.repo(`${server.origin}/up`), 5000);
  expect([...branches.tips]).toEqual([["main", one]]);
  expect(branches.head).toBe("main");
});
