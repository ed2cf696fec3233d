import { afterAll, beforeAll, expect } from "bun:test";
import fs, { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import iso from "isomorphic-git";
import overNode from "isomorphic-git/http/node";
import overFetch from "isomorphic-git/http/web";
import { type GatewayBench, refsOf, runClient, scratch, setRefs, startGateway } from "../helpers/gateway.ts";
import { type Beginning, makeHistory } from "../helpers/git-clients.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";

const test = needs("a real Postgres", POSTGRES);

/** A git that shares no code with the one that svc runs. */
const WAYS = { "node:http": overNode, fetch: overFetch };
const AUTHOR = { name: "A", email: "a@example.com" };

let bench: GatewayBench;
let beginning: Beginning;
const work = scratch();

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startGateway();
  beginning = await makeHistory(bench, join(work.path, "history"));
});

afterAll(async () => {
  await bench?.stop();
  work[Symbol.dispose]();
});

const CASES = (["hosted", "external"] as const).flatMap((kind) =>
  Object.entries(WAYS).map(([name, http]) => [kind, name, http] as const),
);

test.each(CASES)("%s, over %s: clone, commit, push, fetch", async (kind, _, http) => {
  const { place, url, onAuth, dir } = await begin(kind);
  const repo = { fs, dir };
  const remote = { ...repo, http, onAuth };
  await iso.clone({ ...remote, url });
  expect(await iso.resolveRef({ ...repo, ref: "HEAD" })).toBe(beginning["refs/heads/main"] ?? "");
  expect(await iso.currentBranch(repo)).toBe("main");
  expect(await iso.listBranches({ ...repo, remote: "origin" })).toContain("feature");
  expect(readFileSync(join(dir, "f"), "utf8")).toBe("29\n");
  expect(await runClient(dir, "fsck", "--full")).toMatchObject({ code: 0 });

  writeFileSync(join(dir, "f"), "mine\n");
  await iso.add({ ...repo, filepath: "f" });
  const mine = await iso.commit({ ...repo, message: "mine", author: AUTHOR });
  const pushed = await iso.push({ ...remote, ref: "main", remoteRef: "refs/heads/mine" });
  expect(pushed).toMatchObject({ ok: true, refs: { "refs/heads/mine": { ok: true } } });
  expect((await refsOf(place.directory))["refs/heads/mine"]).toBe(mine);

  await setRefs(place.directory, { ...beginning, "refs/heads/theirs": mine });
  await iso.fetch({ ...remote, prune: true });
  expect(await iso.resolveRef({ ...repo, ref: "refs/remotes/origin/theirs" })).toBe(mine);
  expect(await iso.listBranches({ ...repo, remote: "origin" })).not.toContain("mine");
  await iso.push({ ...remote, ref: "main", remoteRef: "refs/heads/theirs", delete: true });
  expect(await refsOf(place.directory)).toEqual(beginning);
});

test.each(CASES)("%s, over %s: one branch and one commit", async (kind, _, http) => {
  const { url, onAuth, dir } = await begin(kind);
  await iso.clone({ fs, dir, http, onAuth, url, ref: "feature", singleBranch: true, depth: 1 });
  const log = await iso.log({ fs, dir });
  expect(log.map(({ oid }) => oid)).toEqual([beginning["refs/heads/feature"] ?? ""]);
});

test.each(CASES)("%s, over %s: the refs in both versions of the protocol", async (kind, _, http) => {
  const { url, onAuth } = await begin(kind);
  for (const protocolVersion of [1, 2] as const) {
    const refs = await iso.listServerRefs({ http, onAuth, url, protocolVersion, symrefs: true });
    const found = Object.fromEntries(refs.map(({ ref, oid }) => [ref, oid]));
    expect(found["refs/heads/main"]).toBe(beginning["refs/heads/main"] ?? "");
    expect(Object.keys(found).filter((ref) => /^refs\/(?:cr|svc)\//.test(ref))).toEqual([]);
    expect(refs.find(({ ref }) => ref === "HEAD")?.target).toBe("refs/heads/main");
  }
});

test.each(CASES)(
  "%s, over %s: a rejected push reports the reason, and changes nothing",
  async (kind, _, http) => {
    const { place, url, onAuth, dir } = await begin(kind);
    const remote = { fs, dir, http, onAuth };
    await iso.clone({ ...remote, url, ref: "main", singleBranch: true });
    const other = await iso.commit({ fs, dir, message: "other", author: AUTHOR, parent: [] });
    const push = iso.push({ ...remote, ref: other, remoteRef: "refs/heads/main", force: true });
    const error = await push.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(iso.Errors.GitPushError);
    expect(String(error)).toContain("the default branch cannot be rewritten");
    expect(await refsOf(place.directory)).toEqual(beginning);
  },
);

test.each(Object.entries(WAYS))("over %s: a wrong token is refused", async (_, http) => {
  const { url } = await begin("hosted");
  const onAuth = () => ({ username: "x", password: "svc_pat_wrong" });
  const asked = iso.getRemoteInfo2({ http, url, onAuth, onAuthFailure: () => ({ cancel: true }) });
  await expect(asked).rejects.toThrow();
});

/** A repository as it is at the beginning, and a new folder. */
async function begin(kind: "hosted" | "external") {
  const place = bench[kind];
  await setRefs(place.directory, beginning);
  return {
    place,
    url: bench.url(place, null),
    onAuth: () => ({ username: "x", password: bench.api.token }),
    dir: join(work.path, crypto.randomUUID()),
  };
}
