import { expect, test } from "bun:test";
import { chmod, cp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Git, Repository } from "../../src/git/git.ts";
import { pauseAfter } from "../../src/git/mirror/backoff.ts";
import type { GitLimits } from "../../src/git/run/limits.ts";
import { serveGit } from "../helpers/git-http.ts";
import {
  createRepository,
  createTestGit,
  QUIET,
  runGit,
  type TestRepository,
  temporary,
} from "../helpers/git-repo.ts";
import { sample } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";

/** A host that refuses a fetch with these words (gitprotocol-pack, "error-line"). */
const refusal = (words: string) => {
  const line = `ERR ${words}\n`;
  const packet = (line.length + 4).toString(16).padStart(4, "0") + line;
  return new Response(`001e# service=git-upload-pack\n0000${packet}`, {
    headers: { "Content-Type": "application/x-git-upload-pack-advertisement" },
  });
};

const WORDS = [
  "could not read from remote repository",
  "unable to read tree 1111111111111111111111111111111111111111",
  "bad object refs/heads/main: the packfile is corrupt",
  "missing blob 1111111111111111111111111111111111111111",
];

test("merged change requests keep their commits, whatever words the host refuses with", async () => {
  let words: string | null = null;
  await using place = await start({ before: () => (words === null ? null : refusal(words)) });
  const { head } = await place.mergeAndDelete();
  for (const refused of WORDS) {
    words = refused;
    for (let attempt = 0; attempt < 2; attempt++) {
      await place.git.ensureCommits(place.repo, [UNKNOWN]).then(
        () => expect.unreachable(),
        (error: unknown) => expect([refused, error]).toMatchObject([refused, { code: "repo_unreachable" }]),
      );
    }
    words = null;
    expect(await place.git.ensureCommits(place.repo, [UNKNOWN])).toBe(false);
    expect([refused, await place.refs()]).toMatchObject([refused, { "refs/cr/1/head/1": head }]);
    expect(await place.read(head)).toBe("work");
    expect([refused, place.said("rebuilt")]).toEqual([refused, []]);
  }
});

test("merged change requests keep their commits when the connection drops", async () => {
  await using place = await start({ file: true });
  const { head } = await place.mergeAndDelete();
  await rename(place.upstream.directory, `${place.upstream.directory}-away`);
  // git: "Could not read from remote repository."
  for (let attempt = 0; attempt < 2; attempt++)
    await place.git.ensureCommits(place.repo, [UNKNOWN]).catch(() => {});
  await rename(`${place.upstream.directory}-away`, place.upstream.directory);
  expect(await place.git.ensureCommits(place.repo, [UNKNOWN])).toBe(false);
  expect(await place.read(head)).toBe("work");
  expect(place.said("rebuilt")).toEqual([]);
});

const DAMAGES: Record<string, (place: Place) => Promise<void>> = {
  "a pack is gone": async (place) => {
    for (const name of await place.packOfMain()) await rm(name);
  },
  "a pack is overwritten": async (place) => {
    for (const name of await place.packOfMain()) {
      if (!name.endsWith(".pack")) continue;
      await chmod(name, 0o644);
      const bytes = await Bun.file(name).bytes();
      await writeFile(name, bytes.fill(0x55, 12, bytes.length - 20));
    }
  },
  "a pack is cut": async (place) => {
    for (const name of await place.packOfMain()) {
      if (!name.endsWith(".pack")) continue;
      await chmod(name, 0o644);
      await writeFile(name, (await Bun.file(name).bytes()).subarray(0, 40));
    }
  },
  "HEAD is gone": (place) => rm(join(place.mirror(), "HEAD")),
};

test.each(sample(2, Object.keys(DAMAGES)))(
  "a rebuilt mirror has the refs that only the damaged one held: %s",
  async (name) => {
    await using place = await start();
    const { base, head } = await place.mergeAndDelete();
    await DAMAGES[name]?.(place);
    // with and without a server that has the mirror open
    for (let life = 0; life < 2; life++) {
      expect(await place.git.compare(place.repo, base, place.side)).toMatchObject({ canMerge: true });
      expect(await place.refs()).toMatchObject({ "refs/cr/1/head/1": head, "refs/svc/saved/x": head });
      expect(await place.read(head)).toBe("work");
      await runGit(place.mirror(), ["fsck", "--full", "--strict", "--no-dangling"], { codes: [0, 8] });
      expect(await readdir(join(place.directory, "data", "mirrors"))).toEqual([`${place.repo.id}.git`]);
      expect(await readdir(join(place.directory, "data", "git", "temporary"))).toEqual([]);
      await place.restart();
      if (life === 0) await DAMAGES[name]?.(place);
    }
    expect(place.said("lost")).toEqual([]);
  },
);

test("complete refs of a damaged mirror are kept, and lost ones are logged", async () => {
  await using place = await start();
  const { base, head } = await place.mergeAndDelete();
  const blob = (await runGit(place.mirror(), ["hash-object", "-w", "--stdin"], { stdin: "broken" })).stdout;
  const tree = await runGit(place.mirror(), ["mktree"], {
    stdin: `100644 blob ${blob.toString().trim()}\tf\n`,
  });
  const env = {
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@b",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@b",
  };
  const broken = await runGit(place.mirror(), ["commit-tree", tree.stdout.toString().trim(), "-m", "x"], {
    env,
  });
  await runGit(place.mirror(), ["update-ref", "refs/cr/2/head", broken.stdout.toString().trim()]);
  const id = blob.toString().trim();
  await rm(join(place.mirror(), "objects", id.slice(0, 2), id.slice(2)));
  for (const name of await place.packOfMain()) await rm(name);

  expect(await place.git.compare(place.repo, base, place.side)).toMatchObject({ canMerge: true });
  const refs = await place.refs();
  expect(refs).toMatchObject({ "refs/cr/1/head/1": head });
  expect(refs["refs/cr/2/head"]).toBeUndefined();
  expect(place.said("lost")).toEqual([expect.objectContaining({ lost: ["refs/cr/2/head"] })]);
});

test("a damaged mirror whose host is unreachable stays as it is, and is rebuilt when the host is back", async () => {
  let away = false;
  await using place = await start({ before: () => (away ? new Response(null, { status: 503 }) : null) });
  const { base, head } = await place.mergeAndDelete();
  for (const name of await place.packOfMain()) await rm(name);
  away = true;
  const before = await place.refs();
  await place.git.compare(place.repo, base, place.side).then(
    () => expect.unreachable(),
    (error: unknown) => expect(error).toMatchObject({ code: "repo_unreachable" }),
  );
  expect(await place.refs()).toEqual(before);
  away = false;
  await place.restart();
  expect(await place.git.compare(place.repo, base, place.side)).toMatchObject({ canMerge: true });
  expect(await place.refs()).toMatchObject({ "refs/cr/1/head/1": head });
});

test.each([
  ["between the two moves", async (mirror: string) => rename(mirror, `${mirror}.old`)],
  ["after them", async (mirror: string) => cp(mirror, `${mirror}.old`, { recursive: true })],
])("a replacement that was interrupted %s leaves one complete mirror", async (_, cut) => {
  await using place = await start();
  const { head } = await place.mergeAndDelete();
  await place.restart(() => cut(place.mirror()));
  expect(await place.git.hasCommit(place.repo, head)).toBe(true);
  expect(await place.refs()).toMatchObject({ "refs/cr/1/head/1": head });
  expect(await readdir(join(place.directory, "data", "mirrors"))).toEqual([`${place.repo.id}.git`]);
});

test("an object missing at the source is reported and logged, and not fetched for each request", async () => {
  await using place = await start();
  const lost = await place.upstream.git("rev-parse", `${place.base}:f`);
  await rm(join(place.upstream.directory, "objects", lost.slice(0, 2), lost.slice(2)));
  const reason = "it lacks objects that its branches need";
  const answers: { code: string; message: string; headers: Record<string, string> }[] = [];
  for (let attempt = 0; attempt < 12; attempt++) {
    await place.git.ensureCommits(place.repo, [place.base]).then(
      () => expect.unreachable(),
      (error) => answers.push(error),
    );
  }
  for (const { code, message } of answers) {
    expect(code).toBe("repo_unreachable");
    expect(message).toContain(reason);
  }
  const last = answers.at(-1);
  expect(Number(last?.headers["Retry-After"])).toBeGreaterThan(0);
  expect(last?.message).toContain("Try again in");
  const fetches = place.host.requests.filter(({ path }) => path.endsWith("git-upload-pack")).length;
  // each fetch requests the refs and the pack
  expect(fetches).toBeLessThanOrEqual(2 * 5);
  const said = place.said("could not be fetched");
  expect(said.length).toBeLessThanOrEqual(5);
  expect(said[0]).toMatchObject({ reason: expect.stringContaining(reason), failures: 1 });
});

test("a request during the retry of a failed fetch gets the reason without waiting", async () => {
  let answers: "badly" | "never" | "well" = "badly";
  const { promise: held, resolve: release } = Promise.withResolvers<null>();
  await using place = await start({
    limits: { retryWaitMs: 50 },
    before(request) {
      if (request.method !== "POST" || answers === "well") return null;
      return answers === "badly" ? new Response("", { status: 403 }) : held;
    },
  });
  const reason = "The repository at 127.0.0.1 could not be read: the host refused access.";
  const ask = () => place.git.ensureCommits(place.repo, [place.base]).catch(({ message }) => message);
  expect(await ask()).toBe(reason);
  answers = "never";
  expect(await ask()).toBe(`${reason} svc is fetching it again: try again in 1 s.`);
  // the same fetch goes on
  answers = "well";
  release(null);
  await until("the commit is there", () => place.git.hasCommit(place.repo, place.base));
  expect(await ask()).toBe(true);
});

test("a new credential is tried at once after failures", async () => {
  await using place = await start({
    before: (request) =>
      request.headers.get("authorization") === `Basic ${btoa("x:good")}`
        ? null
        : new Response(null, { status: 403 }),
  });
  for (let attempt = 0; attempt < 5; attempt++)
    await place.git.ensureCommits(place.repo, [place.base]).catch(() => {});
  const repo = { ...place.repo, credential: { username: "x", token: "good" } };
  expect(await place.git.ensureCommits(repo, [place.base])).toBe(true);
});

test.each([
  [1, 50, 0],
  [2, 50, 0],
  [3, 50, 1_000],
  [4, 50, 2_000],
  [30, 50, 15_000],
  [1, 60_000, 60_000],
  [3, 60_000, 240_000],
  [30, 60_000, 1_800_000],
])("after failure %i, which took %i ms, the next attempt is due in %i ms", (failures, took, pause) => {
  expect(pauseAfter(failures, took)).toBe(pause);
});

test.each([
  ["of branches", (place: Place) => place.git.ensureCommits(place.repo, [UNKNOWN])],
  ["of saved work", (place: Place) => place.git.ensureOwn(place.repo, "refs/svc/saved/x", UNKNOWN)],
])("deleting a project ends its fetch %s, which leaves no folder", async (_, fetch) => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  let hangs = false;
  await using place = await start({
    before(request) {
      if (!hangs || request.method !== "POST") return null;
      reach();
      return new Promise<Response>(() => {});
    },
  });
  expect(await place.git.ensureCommits(place.repo, [place.base])).toBe(true);
  hangs = true;
  const fetching = fetch(place).then(
    () => "done",
    (error) => error.code,
  );
  await reached;
  await place.git.forget(place.repo.id);
  expect(await fetching).toBe("not_found");
  expect(await readdir(join(place.directory, "data", "mirrors"))).toEqual([]);
});

test("deleting a project ends its first fetch, which leaves no folder", async () => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  await using place = await start({
    before(request) {
      if (request.method !== "POST") return null;
      reach();
      return new Promise<Response>(() => {});
    },
  });
  const fetching = place.git.ensureCommits(place.repo, [place.base]).then(
    () => "done",
    (error) => error.code,
  );
  await reached;
  await place.git.forget(place.repo.id);
  expect(await fetching).toBe("not_found");
  expect(await readdir(join(place.directory, "data", "mirrors"))).toEqual([]);
});

const UNKNOWN = "1".repeat(40);

interface Place extends AsyncDisposable {
  directory: string;
  upstream: TestRepository;
  host: ReturnType<typeof serveGit>;
  git: Git;
  repo: Repository & { url: string };
  /** Commits of the branches `main` and `side`. */
  base: string;
  side: string;
  mirror(): string;
  refs(): Promise<Record<string, string>>;
  /** The file `f` of a commit. */
  read(commit: string): Promise<string>;
  /** Fetches, keeps the branch `work` as change request 1 and as saved work, and deletes it on the host. */
  mergeAndDelete(): Promise<{ base: string; head: string }>;
  /** The files of the pack that brought `main` and `side`. */
  packOfMain(): Promise<string[]>;
  /** What was logged with these words. */
  said(words: string): object[];
  restart(meanwhile?: () => Promise<unknown>): Promise<void>;
}

interface StartOptions {
  limits?: Partial<GitLimits>;
  /** The host is a directory, and not reached by http. */
  file?: boolean;
  before?: Parameters<typeof serveGit>[1];
}

async function start({ before, limits = {}, file = false }: StartOptions = {}): Promise<Place> {
  const folder = await temporary();
  const directory = folder.path;
  const upstream = await createRepository(join(directory, "up"));
  const { base = "", side = "" } = await upstream.write([
    { name: "root", files: { f: "root", k: "root" } },
    { name: "base", branch: "main", parents: ["root"], files: { f: "main", k: "root" } },
    { name: "side", branch: "side", parents: ["root"], files: { f: "root", k: "side" } },
  ]);
  const host = serveGit(directory, before);
  const logged: [object, string][] = [];
  const note = (fields: object, words: string) => void logged.push([fields, words]);
  const dataDir = join(directory, "data");
  const open = () => createTestGit({ dataDir, limits, log: { ...QUIET, warn: note, error: note } });
  let engine = await open();
  const repo = { id: crypto.randomUUID(), url: file ? upstream.url : `${host.origin}/up`, credential: null };
  const mirror = () => join(dataDir, "mirrors", `${repo.id}.git`);
  const place: Place = {
    directory,
    upstream,
    host,
    git: engine.git,
    repo,
    base,
    side,
    mirror,
    async refs() {
      const { stdout } = await runGit(mirror(), ["for-each-ref", "--format=%(refname) %(objectname)"]);
      return Object.fromEntries(
        stdout
          .toString()
          .split("\n")
          .filter(Boolean)
          .map((line) => line.split(" ")),
      );
    },
    async read(commit) {
      return Buffer.from((await place.git.readFile(repo, commit, "f", 100)) ?? "").toString();
    },
    async mergeAndDelete() {
      expect(await place.git.ensureCommits(repo, [base, side])).toBe(true);
      const { head = "" } = await upstream.write([
        { name: "head", branch: "work", parents: [base], files: { f: "work", k: "root" } },
      ]);
      expect(await place.git.ensureCommits(repo, [head])).toBe(true);
      await place.git.keep(repo, 1, { base, "head/1": head, merge: head });
      await runGit(mirror(), ["update-ref", "refs/svc/saved/x", head]);
      await upstream.git("update-ref", "-d", "refs/heads/work");
      // the host's copy of the commit goes too
      await upstream.git("-c", "gc.auto=0", "prune", "--expire=now");
      expect(await place.git.ensureCommits(repo, [UNKNOWN])).toBe(false);
      return { base, head };
    },
    async packOfMain() {
      const packs = join(mirror(), "objects", "pack");
      const names = (await readdir(packs)).filter((name) => name.endsWith(".idx"));
      for (const name of names) {
        const shown = await runGit(mirror(), ["show-index"], {
          stdin: await Bun.file(join(packs, name)).bytes(),
        });
        if (!shown.stdout.toString().includes(side)) continue;
        const stem = name.replace(/idx$/, "");
        return (await readdir(packs))
          .filter((each) => each.startsWith(stem))
          .map((each) => join(packs, each));
      }
      throw new Error("no pack holds the branch");
    },
    said: (words) => logged.flatMap(([fields, text]) => (text.includes(words) ? [fields] : [])),
    async restart(meanwhile) {
      await engine.git.close();
      await meanwhile?.();
      engine = await open();
      place.git = engine.git;
    },
    async [Symbol.asyncDispose]() {
      await engine.git.close();
      host[Symbol.dispose]();
      await until("no host is at work", () => host.pending() === 0 || before !== undefined);
      await folder[Symbol.asyncDispose]();
    },
  };
  return place;
}
