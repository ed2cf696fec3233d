import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import type { SvcError } from "../../src/contract/errors.ts";
import type { DiffRequest, Git, Repository } from "../../src/git/git.ts";
import { bomb } from "../helpers/bomb.ts";
import { backend, serveGit } from "../helpers/git-http.ts";
import {
  type Commit,
  createRepository,
  createTestGit,
  type TestRepository,
  temporary,
} from "../helpers/git-repo.ts";
import { until } from "../helpers/until.ts";

/** Only a hang reaches it. */
const PATIENT = { diffMs: WAIT_LIMIT_MS, mergeMs: WAIT_LIMIT_MS };

test("10^6 files in a few objects: the diff is truncated, and the merge preview works", async () => {
  await using place = await start(PATIENT);
  const { base, head } = await bomb(place.upstream, 6);
  await place.git.ensureCommits(place.repo, [base, head]);
  const order: string[] = [];
  const asking = askNeighbour(place).then(() => order.push("another's merges"));
  const summary = await place.git.diff(place.repo, {
    from: base,
    to: head,
    attributes: base,
    maxFiles: 1000,
    onPatch: () => true,
  });
  expect(summary).toMatchObject({ truncated: true });
  expect((await place.git.compare(place.repo, base, head)).canMerge).toBe(true);
  order.push("both");
  await asking;
  expect(order).toEqual(["another's merges", "both"]);
});

test("10^9 files in a few objects end at a limit", async () => {
  await using place = await start({ diffMs: 1500, mergeMs: 1500, mergeMemory: 300 * 1024 * 1024 });
  const { base, head, side } = await bomb(place.upstream, 9);
  expect(await place.git.ensureCommits(place.repo, [base, head, side])).toBe(true);
  const diff = place.git.diff(place.repo, {
    from: base,
    to: head,
    attributes: base,
    maxFiles: 1000,
    onPatch: () => true,
  });
  const merge = place.git.compare(place.repo, base, side);
  expect(await diff.catch((thrown: SvcError) => thrown)).toMatchObject({ code: "payload_too_large" });
  const verdict = await merge.catch((thrown: SvcError) => thrown);
  // git may answer a merge that only adds; it may not answer wrongly
  if (verdict instanceof Error) expect(verdict).toMatchObject({ code: "merge_engine_failed" });
});

test("many renames and a huge text fail at a limit, and never return a result", async () => {
  await using place = await start({ mergeMs: 2_000, mergeMemory: 150 * 1024 * 1024 });
  const renames = await storm(place.upstream, 3_000);
  const texts = await hugeText(place.upstream);
  await place.git.ensureCommits(place.repo, [renames.base, renames.head, texts.base, texts.head]);
  for (const { base, head } of [renames, texts]) {
    const verdict = await place.git.compare(place.repo, base, head).catch((thrown: SvcError) => thrown);
    if (verdict instanceof Error) expect(verdict).toMatchObject({ code: "merge_engine_failed" });
  }
});

test("a diff whose reader waits does not delay another repository", async () => {
  await using place = await start(PATIENT);
  const { one = "", two = "" } = await place.upstream.write([
    { name: "one", branch: "one", files: { f: "1\n" } },
    { name: "two", branch: "two", parents: ["one"], files: { f: "2\n" } },
  ]);
  await place.git.ensureCommits(place.repo, [one, two]);
  let answered = false;
  const { repo, base, head } = place.neighbour;
  const diff = (of: Repository, what: Pick<DiffRequest, "from" | "to" | "onPatch">) =>
    place.git.diff(of, { ...what, attributes: what.from, maxFiles: 1000 });
  const onPatch = async () => {
    await askNeighbour(place);
    await diff(repo, { from: base, to: head, onPatch: () => true });
    answered = true;
    return true;
  };
  await diff(place.repo, { from: one, to: two, onPatch });
  expect(answered).toBe(true);
});

test("many requests for one repository do not delay another, and a full queue is reported", async () => {
  await using place = await start({ ...PATIENT, queuePerRepository: 4, mergeMemory: 2e9 });
  const { base, head } = await storm(place.upstream, 4_000);
  await place.git.ensureCommits(place.repo, [base, head]);
  const answers: unknown[] = [];
  for (let times = 0; times < 12; times++)
    void place.git.compare(place.repo, base, head).then(
      (verdict) => answers.push(verdict),
      (thrown: unknown) => answers.push(thrown),
    );
  await until("six are refused", () => answers.length >= 6);
  await askNeighbour(place);
  // two run, and four wait: they take much longer
  const busy = expect.objectContaining({ code: "unavailable", headers: { "Retry-After": "1" } });
  expect(answers).toEqual(Array(6).fill(busy));
});

test("a fetch past the mirror's size limit fails, and its packs are removed", async () => {
  await using place = await start({ mirrorBytes: 500_000 });
  const files = Object.fromEntries(
    Array.from({ length: 64 }, (_, index) => [`f${index}`, crypto.getRandomValues(new Uint8Array(65_536))]),
  );
  const { one = "" } = await place.upstream.write([{ name: "one", branch: "big", files }]);
  const root = dirname(place.upstream.directory);
  using server = serveGit(root, async (request) => withoutEnd(await backend(root, request)));
  const repo = { ...place.repo, url: `${server.origin}/up` };
  const error = await place.git.ensureCommits(repo, [one]).catch((thrown: SvcError) => thrown);
  expect(error).toMatchObject({ code: "repo_unreachable", message: expect.stringContaining("too large") });
  expect(await readdir(join(root, "data", "mirrors", `${repo.id}.git`, "objects", "pack"))).toEqual([]);
});

/** Without its end: the connection stays open until the client ends it. */
async function withoutEnd(response: Response): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes.length < 1_000_000) return new Response(bytes, response);
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes.slice(0, -1_000)),
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

interface Place extends AsyncDisposable {
  git: Git;
  repo: Repository;
  upstream: TestRepository;
  neighbour: { repo: Repository; base: string; head: string };
}

async function start(limits = {}): Promise<Place> {
  const directory = await temporary();
  const upstream = await createRepository(join(directory.path, "up"));
  const quiet = await createRepository(join(directory.path, "quiet"));
  const ids = await quiet.write([
    { name: "root", files: { f: "1\n2\n3\n" } },
    { name: "base", branch: "main", parents: ["root"], files: { f: "a\n2\n3\n" } },
    { name: "head", branch: "work", parents: ["root"], files: { f: "b\n2\n3\n" } },
  ]);
  const engine = await createTestGit({ dataDir: join(directory.path, "data"), limits });
  const neighbour = { repo: engine.repo(quiet.url), base: ids["base"] ?? "", head: ids["head"] ?? "" };
  await engine.git.ensureCommits(neighbour.repo, [neighbour.base, neighbour.head]);
  return {
    git: engine.git,
    repo: engine.repo(upstream.url),
    upstream,
    neighbour,
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** Three ordinary merges of another repository. */
async function askNeighbour({ git, neighbour: { repo, base, head } }: Place): Promise<void> {
  for (let times = 0; times < 3; times++)
    expect((await git.compare(repo, base, head)).conflicts).toEqual(["f"]);
}

/** Head renames and edits every file, base edits every file. */
async function storm(upstream: TestRepository, count: number): Promise<{ base: string; head: string }> {
  const text = (index: number, extra: string) =>
    `${Array.from({ length: 20 }, (_, line) => `${index} ${line} ${(index * 7919 + line * 104_729) % 1_000_003}\n`).join("")}${extra}`;
  const all = (prefix: string, extra: string) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `${prefix}${(index * 31) % count}`,
        text((index * 31) % count, extra),
      ]),
    );
  const moved = (extra: string) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `new${(index * 17 + 5) % count}-${index}`,
        text(index, extra),
      ]),
    );
  const commits: Commit[] = [
    { name: "was", files: all("old", "") },
    { name: "base", branch: "storm-base", parents: ["was"], files: all("old", "base\n") },
    { name: "head", branch: "storm-head", parents: ["was"], files: moved("head\n") },
  ];
  const { base = "", head = "" } = await upstream.write(commits);
  return { base, head };
}

async function hugeText(upstream: TestRepository): Promise<{ base: string; head: string }> {
  const line = (index: number) => `${index} ${(index * 2_654_435_761) % 4_294_967_296}\n`;
  const text = Array.from({ length: 750_000 }, (_, index) => line(index)).join("");
  const { base = "", head = "" } = await upstream.write([
    { name: "was", files: { big: text } },
    { name: "base", branch: "text-base", parents: ["was"], files: { big: `base\n${text}` } },
    { name: "head", branch: "text-head", parents: ["was"], files: { big: `${text}head\n` } },
  ]);
  return { base, head };
}
