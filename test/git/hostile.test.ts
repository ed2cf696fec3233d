import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SvcError } from "../../src/contract/errors.ts";
import type { Git, Repository } from "../../src/git/git.ts";
import { bomb } from "../helpers/bomb.ts";
import { backend, serveGit } from "../helpers/git-http.ts";
import {
  type Commit,
  createRepository,
  createTestGit,
  type TestRepository,
  temporary,
} from "../helpers/git-repo.ts";

/** So many ordinary merges are answered while something goes on that takes much longer than one: they do not wait for it. */
const ANSWERED = 3;

test("10^6 files in a few objects: the diff is truncated, and the merge preview works", async () => {
  await using place = await start();
  const { base, head } = await bomb(place.upstream, 6);
  await place.git.ensureCommits(place.repo, [base, head]);
  const answered = await meanwhile(place, async () => {
    const summary = await place.git.diff(place.repo, {
      from: base,
      to: head,
      attributes: base,
      maxFiles: 1000,
      onPatch: () => true,
    });
    expect(summary).toMatchObject({ truncated: true });
    expect((await place.git.compare(place.repo, base, head)).canMerge).toBe(true);
  });
  expect(answered).toBeGreaterThanOrEqual(ANSWERED);
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
  const answered = await meanwhile(place, async () => {
    for (const { base, head } of [renames, texts]) {
      const verdict = await place.git.compare(place.repo, base, head).catch((thrown: SvcError) => thrown);
      if (verdict instanceof Error) expect(verdict).toMatchObject({ code: "merge_engine_failed" });
    }
  });
  expect(answered).toBeGreaterThanOrEqual(ANSWERED);
});

test("many requests for one repository do not delay another, and a full queue is reported", async () => {
  await using place = await start({ mergeMs: 1_000, queuePerRepository: 4, mergeMemory: 2e9 });
  const { base, head } = await storm(place.upstream, 4_000);
  await place.git.ensureCommits(place.repo, [base, head]);
  const answered = await meanwhile(place, async () => {
    const crowd = Array.from({ length: 12 }, () =>
      place.git.compare(place.repo, base, head).catch((thrown: SvcError) => thrown),
    );
    const answers = await Promise.all(crowd);
    const busy = answers.filter(
      (answer) => answer instanceof Error && "code" in answer && answer.code === "unavailable",
    );
    expect(busy.length).toBe(6);
    expect(busy[0]).toMatchObject({ headers: { "Retry-After": "1" } });
  });
  expect(answered).toBeGreaterThanOrEqual(ANSWERED);
});

test("a fetch past the mirror's size limit fails, and its packs are removed", async () => {
  await using place = await start({ mirrorBytes: 500_000 });
  const files = Object.fromEntries(
    Array.from({ length: 64 }, (_, index) => [`f${index}`, crypto.getRandomValues(new Uint8Array(65_536))]),
  );
  const { one = "" } = await place.upstream.write([{ name: "one", branch: "big", files }]);
  const root = dirname(place.upstream.directory);
  using server = serveGit(root, async (request) => slowly(await backend(root, request)));
  const repo = { ...place.repo, url: `${server.origin}/up` };
  const error = await place.git.ensureCommits(repo, [one]).catch((thrown: SvcError) => thrown);
  expect(error).toMatchObject({ code: "repo_unreachable", message: expect.stringContaining("too large") });
  expect(await readdir(join(root, "data", "mirrors", `${repo.id}.git`, "objects", "pack"))).toEqual([]);
});

/** 200 KB every tenth of a second. */
async function slowly(response: Response): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (at > 0) await Bun.sleep(100);
      controller.enqueue(bytes.slice(at, at + 200_000));
      at += 200_000;
      if (at >= bytes.length) controller.close();
    },
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

/** Asks for a neighbour's verdict all the time while something goes on. @returns how many were given meanwhile */
async function meanwhile(place: Place, work: () => Promise<void>): Promise<number> {
  let answered = 0;
  let done = false;
  const asking = (async () => {
    while (!done) {
      const { repo, base, head } = place.neighbour;
      expect((await place.git.compare(repo, base, head)).conflicts).toEqual(["f"]);
      if (!done) answered++;
      await Bun.sleep(20);
    }
  })();
  try {
    await work();
  } finally {
    done = true;
    await asking;
  }
  return answered;
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
