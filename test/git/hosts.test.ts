import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SvcError } from "../../src/contract/errors.ts";
import type { Git, Repository } from "../../src/git/git.ts";
import type { Log } from "../../src/git/run/options.ts";
import { type Fault, type StandIn, type Step, serveHost } from "../helpers/git-host.ts";
import { backend, serveGit } from "../helpers/git-http.ts";
import { createRepository, createTestGit, type TestRepository, temporary } from "../helpers/git-repo.ts";
import { SEED, sample, share } from "../helpers/random.ts";
import { looseRef } from "../helpers/remote.ts";
import { allCommandLines, filesWith } from "../helpers/secrets.ts";

const TOKEN = "glpat-S3cr3t_t0ken-value";
const BASIC = Buffer.from(`someone:${TOKEN}`).toString("base64");
/** The time limit of the API's calls: no other has this length. */
const API_MS = 3_600_001;
/** The last has no API that svc knows: there the branch is pushed. */
const KINDS = ["github", "gitlab", "gitea", "push"] as const;
type Kind = (typeof KINDS)[number];
/** What is the same for each API is tested with one of them, and without. */
const DRAWN: readonly Kind[] = [...sample(1, KINDS.slice(0, 3)), "push"];

/** Branch names that some URL, pattern or ref syntax could misread. */
const BRANCHES = [
  "0b3f6f3e-6f5c-4a3e-9c52-1f8f0c7f0a11",
  "feature/deep/er",
  "hash#mark",
  "per%2fcent/100%",
  "ünï/çødé-漢字",
  "and&ref=main&base=x",
  "plus+equals=quote'",
  'semi;colon,"(paren)!$@',
  "<script>",
  "heads/main",
];

describe.each(KINDS)("%s", (kind) => {
  let place: Place;
  beforeAll(async () => {
    place = await start(kind);
  });
  afterAll(() => place.close());
  beforeEach(() => place.reset());
  const byApi = kind !== "push";
  const isDrawn = share(0, 1) > 0 || DRAWN.includes(kind);

  // in each run all of them, but each at one of the hosts, which the seed chooses
  const branches = BRANCHES.filter(
    (_, index) => share(0, 1) > 0 || (index + SEED) % 4 === KINDS.indexOf(kind),
  );
  test.each(branches)("creates %s at the tip, through the API if there is one", async (branch) => {
    const { git, repo, host } = place;
    const tip = place.tip("main");
    expect(await git.createBranch(repo, { branch, base: "main" })).toBe(tip);
    expect(place.tip(branch)).toBe(tip);
    expect(host.calls.map(({ step }) => step)).toEqual(byApi ? ["read", "create"] : []);
    expect(pushesOf(host)).toBe(byApi ? 0 : 1);
    // and as a base, through the same encodings
    const child = `from-${crypto.randomUUID()}`;
    expect(await git.createBranch(repo, { branch: child, base: branch })).toBe(tip);
    expect(pushesOf(host)).toBe(byApi ? 0 : 2);
  });

  if (isDrawn) {
    test("starts at the current tip of the base, not at a cached one", async () => {
      const { git, repo } = place;
      await git.createBranch(repo, { branch: fresh(), base: "main" });
      const moved = await place.move();
      expect(await git.createBranch(repo, { branch: fresh(), base: "main" })).toBe(moved);
    });

    test("creates the branch at the returned commit, also if the base moves in between", async () => {
      const { git, repo, host } = place;
      const before = place.tip("main");
      let moved = "";
      const moveOnce = async () => {
        moved ||= await place.move();
        return null;
      };
      host.after.read = moveOnce;
      if (!byApi) host.onGit = (request) => (isPush(request) ? moveOnce() : null);
      const branch = fresh();
      expect(await git.createBranch(repo, { branch, base: "main" })).toBe(before);
      expect(place.tip(branch)).toBe(before);
      expect(moved).not.toBe("");
    });

    test("creating an existing branch at the same commit succeeds; elsewhere or in conflict is branch_exists", async () => {
      const { git, repo, upstream, root } = place;
      const branch = `${fresh()}/part`;
      const first = await git.createBranch(repo, { branch, base: "main" });
      expect(await git.createBranch(repo, { branch, base: "main" })).toBe(first);
      await upstream.git("update-ref", `refs/heads/${branch}`, root);
      const exists = { code: "branch_exists", message: expect.stringContaining(branch) };
      expect(await failure(git, repo, branch)).toMatchObject(exists);
      expect(place.tip(branch)).toBe(root);
      expect(await failure(git, repo, `${branch}/below`)).toMatchObject(exists);
      expect(await failure(git, repo, branch.slice(0, branch.indexOf("/")))).toMatchObject(exists);
    });

    test("twelve concurrent requests get the same commit", async () => {
      const { git, repo } = place;
      const branch = fresh();
      const asked = Array.from({ length: 12 }, () => git.createBranch(repo, { branch, base: "main" }));
      const tip = place.tip("main");
      expect(new Set(await Promise.all(asked))).toEqual(new Set([tip]));
    });

    test("a missing base is ref_not_found, and invalid names are invalid_ref", async () => {
      const { git, repo, host } = place;
      expect(await failure(git, repo, fresh(), "no/such")).toMatchObject({
        code: "ref_not_found",
        message: 'The repository has no branch "no/such".',
      });
      host.calls.length = 0;
      for (const bad of [
        "",
        "../x",
        "a/../../user",
        "a/./b",
        "-x",
        "a b",
        "a?b",
        "HEAD",
        "a\u0000b",
        "x/",
        "/x",
        "a\\b",
      ]) {
        expect(await failure(git, repo, bad)).toMatchObject({ code: "invalid_ref" });
        expect(await failure(git, repo, fresh(), bad)).toMatchObject({ code: "invalid_ref" });
      }
      expect(host.calls).toEqual([]);
    });

    test("a rejection by the host's rules is push_rejected with the host's message", async () => {
      const { git, repo, host } = place;
      const branch = fresh();
      host.faults.create = () => Response.json({ message: "Not by the API" }, { status: 403 });
      const says = `printf 'Branches are \\033[31mlocked\\033[0m: ask https://u:${TOKEN}@host/x\\n' >&2; exit 1`;
      await place.hook(says);
      const refused = await failure(git, repo, branch);
      await place.hook(null);
      expect(refused).toMatchObject({ code: "push_rejected" });
      expect(refused.message).toContain("Branches are locked: ask https://host/x");
      expect(place.tip(branch)).toBe("");
      expect(await git.createBranch(repo, { branch, base: "main" })).toMatch(/^[0-9a-f]{40}$/);
    });

    test("an unreachable host and a rejected credential are repo_unreachable", async () => {
      const { git, repo, host } = place;
      const gone = { ...repo, url: "http://127.0.0.1:1/owner/name.git" };
      expect(await failure(git, gone, fresh())).toMatchObject({ code: "repo_unreachable" });
      const wrong = { ...repo, credential: { username: "someone", token: "wrong-token-value" } };
      expect(await failure(git, wrong, fresh())).toMatchObject({ code: "repo_unreachable" });
      expect(host.calls.map(({ step }) => step)).toEqual(byApi ? ["read"] : []);
    });
  }

  test("the credential is in no error, log, command line or file", async () => {
    const { git, repo, host } = place;
    const seen: string[] = [];
    const look = async (answer: Response | null) => {
      seen.push(await allCommandLines());
      return answer;
    };
    const words = `no ${TOKEN} ${BASIC}`;
    host.faults.create = async () => (await look(null)) ?? Response.json({ message: words }, { status: 403 });
    host.onGit = () => look(null);
    await git.createBranch(repo, { branch: fresh(), base: "main" });
    host.onGit = () => look(new Response(words, { status: 403 }));
    const errors = [
      await failure(git, repo, fresh()),
      await failure(git, { ...repo, url: `${host.url}x` }, fresh()),
    ];
    expect(seen.join("\n")).toContain(new URL(host.url).origin);
    const shown = [
      ...seen,
      ...errors.map((error) => `${error.stack}${JSON.stringify(error)}`),
      ...place.lines,
    ];
    for (const text of shown) for (const secret of [TOKEN, BASIC]) expect(text).not.toContain(secret);
    expect(await filesWith(join(place.directory, "data"), [TOKEN, BASIC])).toEqual([]);
  });

  if (byApi) {
    /** What can be wrong with an answer, whatever the host did before it. */
    const wrong: Record<string, Fault> = {
      "401": () => Response.json({ message: "Bad credentials" }, { status: 401 }),
      "403 in words": () => Response.json({ message: "Resource not accessible" }, { status: 403 }),
      "403 at a rate limit": () =>
        Response.json(
          { message: "API rate limit exceeded" },
          { status: 403, headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9999999999" } },
        ),
      "429": () => new Response("slow down", { status: 429, headers: { "retry-after": "3600" } }),
      "404": () => Response.json({ message: "Not Found" }, { status: 404 }),
      "422": () => Response.json({ message: "Validation Failed" }, { status: 422 }),
      "500": () => new Response("", { status: 500 }),
      "502 in HTML": () => new Response("<html>Bad gateway</html>", { status: 502 }),
      "HTML for an answer": () => new Response("<html>Please sign in</html>", { status: 200 }),
      "HTML for a creation": () => new Response("<html>Welcome</html>", { status: 201 }),
      "JSON of another shape": () =>
        Response.json([{ ref: 1, name: null, commit: "x" }, null], { status: 201 }),
      "another branch": () =>
        Response.json(
          { ref: "refs/heads/x", name: "x", object: { sha: SHA }, commit: { id: SHA } },
          { status: 201 },
        ),
      "half of the JSON": () => new Response('{"name": "ma', { status: 200 }),
      "2 MiB of blanks": () => new Response(" ".repeat(2 * 1024 * 1024), { status: 201 }),
      "a body without end": () =>
        new Response(
          new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }),
        ),
      "a redirect": () => new Response(null, { status: 307, headers: { location: place.elsewhere } }),
      "a connection that breaks": () => new Response(new ReadableStream({ pull: (body) => body.error() })),
      [SILENCE]: () => new Promise(() => {}),
      [AFTER_HEAD]: () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })),
      gzip: () => new Response(Bun.gzipSync("x"), { headers: { "content-encoding": "gzip" } }),
    };
    // waiting is the same for all
    const faults = Object.entries(wrong).filter(([name]) => kind === "github" || !name.startsWith(SILENCE));
    const rows = faults
      .flatMap(([name, fault]): [string, Step, boolean, Fault][] => [
        [name, "read", false, fault],
        [name, "create", false, fault],
        [name, "create", true, fault],
      ])
      // in each run all of them, but each at one of the hosts, which the seed chooses
      .filter(([name], index) => {
        const turn = (index + Math.floor(index / 3) + SEED) % 3;
        return share(0, 1) > 0 || name.startsWith(SILENCE) || turn === KINDS.indexOf(kind);
      });

    test.each(rows)(
      "%s to %s (done anyway: %p): the branch is created once",
      async (name, step, done, fault) => {
        const { git, repo, host } = place;
        const isSlow = name.startsWith(SILENCE);
        using limit = apiLimit();
        host.faults[step] = async (perform) => {
          if (done) await perform();
          if (name === SILENCE) limit.expire();
          if (name === AFTER_HEAD) limit.expireAfterHead();
          return await fault(perform);
        };
        const branch = fresh();
        const tip = place.tip("main");
        expect(await git.createBranch(repo, { branch, base: "main" })).toBe(tip);
        expect(place.tip(branch)).toBe(tip);
        expect(host.calls.map((call) => call.step)).toEqual(step === "read" ? ["read"] : ["read", "create"]);
        if (!(isSlow && done)) expect(pushesOf(host)).toBe(done ? 0 : 1);
        expect(place.strangers()).toEqual([]);
        expect(place.lines.join("\n")).toContain("did not create a branch");
      },
    );
  }

  if (byApi && isDrawn) {
    test("a lost response is recovered, also if the base has moved since", async () => {
      const { git, repo, host } = place;
      const before = place.tip("main");
      host.faults.create = async (perform) => {
        await perform();
        await place.move();
        return new Response("lost", { status: 502 });
      };
      const branch = fresh();
      expect(await git.createBranch(repo, { branch, base: "main" })).toBe(before);
      expect(place.tip(branch)).toBe(before);
    });

    test("an API that creates the branch after the timeout changes nothing", async () => {
      const { git, repo, host } = place;
      const late = Promise.withResolvers<Response>();
      using limit = apiLimit();
      host.faults.create = async (perform) => {
        limit.expire();
        while (place.tip(branch) === "") await Bun.sleep(20);
        await place.move();
        late.resolve(await perform());
        return await late.promise;
      };
      const branch = fresh();
      const made = await git.createBranch(repo, { branch, base: "main" });
      expect((await late.promise).status).toBeGreaterThanOrEqual(400);
      expect(place.tip(branch)).toBe(made);
    });

    test("does not use the API with an ssh key, without a credential, or with one that is invalid in a header", async () => {
      const { git, repo, host } = place;
      const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----";
      for (const token of [key, "", "a b", "x\r\nX-Evil: 1", "tökén"])
        await failure(git, { ...repo, credential: { username: "someone", token } }, fresh());
      await failure(git, { ...repo, credential: null }, fresh());
      expect(host.calls).toEqual([]);
    });
  }

  if (!byApi) {
    test("a push whose response was lost is recovered; one that never arrived is repo_unreachable", async () => {
      const { git, repo, host, directory } = place;
      const tip = place.tip("main");
      const lose =
        (first: (request: Request, body: ArrayBuffer) => Promise<unknown>) => async (request: Request) => {
          if (!isPush(request)) return null;
          const body = await request.arrayBuffer();
          // the probe that git sends before the real one
          if (body.byteLength <= 4) return await backend(directory, new Request(request, { body }));
          await first(request, body);
          return new Response("lost", { status: 502 });
        };
      host.onGit = lose((request, body) => backend(directory, new Request(request, { body })));
      const arrived = fresh();
      expect(await git.createBranch(repo, { branch: arrived, base: "main" })).toBe(tip);
      expect(place.tip(arrived)).toBe(tip);
      host.onGit = lose(async () => {});
      expect(await failure(git, repo, fresh())).toMatchObject({ code: "repo_unreachable" });
    });

    test("a branch that appears meanwhile is used if it is at the same commit, else branch_exists", async () => {
      const { git, repo, host, upstream, root } = place;
      const tip = place.tip("main");
      for (const [at, expected] of [
        [tip, tip],
        [root, "branch_exists"],
      ] as const) {
        const branch = fresh();
        host.onGit = async (request) => {
          if (isPushGreeting(request)) await upstream.git("update-ref", `refs/heads/${branch}`, at);
          return null;
        };
        const made = await git
          .createBranch(repo, { branch, base: "main" })
          .catch((error: SvcError) => error.code);
        expect(made).toBe(expected);
        expect(place.tip(branch)).toBe(at);
      }
    });

    test("a branch that appears and disappears is an error with Retry-After", async () => {
      const { git, repo, host, upstream, root } = place;
      const branch = fresh();
      host.onGit = async (request) => {
        if (isPushGreeting(request)) await upstream.git("update-ref", `refs/heads/${branch}`, root);
        else if (!isPush(request)) await upstream.git("update-ref", "-d", `refs/heads/${branch}`);
        return null;
      };
      expect(await failure(git, repo, branch)).toMatchObject({
        code: "unavailable",
        headers: { "Retry-After": "1" },
      });
    });

    test("a base that is rewritten between the listing and the fetch is resolved again", async () => {
      const { git, repo, host, upstream, root } = place;
      await upstream.git("update-ref", "refs/heads/rewritten", await place.commit("lost", root));
      const kept = await place.commit("kept", root);
      let greetings = 0;
      host.onGit = async (request) => {
        if (new URL(request.url).search === "?service=git-upload-pack" && ++greetings === 2)
          await upstream.git("update-ref", "refs/heads/rewritten", kept);
        return null;
      };
      expect(await git.createBranch(repo, { branch: fresh(), base: "rewritten" })).toBe(kept);
    });
  }
});

test("a repository that svc hosts creates branches directly, by the same rules", async () => {
  await using directory = await temporary();
  await using engine = await createTestGit({ dataDir: directory.path });
  const { git } = engine;
  const repo: Repository = { id: crypto.randomUUID(), url: null, credential: null };
  await git.host(repo, "main");
  expect(await failure(git, repo, "new")).toMatchObject({ code: "ref_not_found" });
  const hosted = await createRepository(join(directory.path, "seed"));
  const { root = "", tip = "" } = await hosted.write([
    { name: "root", branch: "main", files: { f: "0" } },
    { name: "tip", branch: "main", parents: ["root"], files: { f: "1" } },
  ]);
  await hosted.git("push", "-q", join(directory.path, "repositories", `${repo.id}.git`), "refs/heads/main");
  const asked = Array.from({ length: 8 }, () => git.createBranch(repo, { branch: "a/b", base: "main" }));
  expect(new Set(await Promise.all(asked))).toEqual(new Set([tip]));
  expect((await git.listBranches(repo, 5000)).tips).toEqual(
    new Map([
      ["main", tip],
      ["a/b", tip],
    ]),
  );
  for (const branch of ["a", "a/b/c"])
    expect(await failure(git, repo, branch)).toMatchObject({ code: "branch_exists" });
  expect(await git.push(repo, { branch: "a/b", from: tip, to: root })).toEqual({ outcome: "moved" });
  expect(await failure(git, repo, "a/b")).toMatchObject({ code: "branch_exists" });
});

const SILENCE = "silence";
const AFTER_HEAD = `${SILENCE} after the head`;
const SHA = "5ca1ab1e".repeat(5);

interface Place {
  directory: string;
  upstream: TestRepository;
  /** The first commit. */
  root: string;
  git: Git;
  /** Waits only so long for an API. */
  repo: Repository;
  host: StandIn;
  lines: string[];
  /** The commit of a branch upstream, read without git; empty if there is none. */
  tip(branch: string): string;
  /** Another host, and who asked it. */
  elsewhere: string;
  strangers(): unknown[];
  commit(name: string, parent: string): Promise<string>;
  /** Adds a commit to the base branch. */
  move(): Promise<string>;
  /** What the host does before it takes a push. */
  hook(script: string | null): Promise<void>;
  /** A host that works, and nothing recorded. */
  reset(): void;
  close(): Promise<void>;
}

async function start(kind: Kind): Promise<Place> {
  const directory = await temporary();
  const path = kind === "gitlab" ? "Team.x/sub-group/app.v1" : "some-one/app.v1";
  const upstream = await createRepository(join(directory.path, `${path}.git`));
  const { root = "" } = await upstream.write([{ name: "root", branch: "main", files: { f: "0" } }]);
  const host = serveHost(kind === "push" ? "gitea" : kind, directory.path, path, TOKEN);
  const elsewhere = serveGit(directory.path);
  const lines: string[] = [];
  const record = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: record, info: record, warn: record, error: record };
  const hosts = kind === "push" ? [] : [host.entry];
  const dataDir = join(directory.path, "data");
  const engine = await createTestGit({ dataDir, hosts, log, limits: { apiMs: API_MS } });
  const hook = join(upstream.directory, "hooks", "pre-receive");
  const place: Place = {
    directory: directory.path,
    upstream,
    root,
    git: engine.git,
    repo: { ...engine.repo(host.url), credential: { username: "someone", token: TOKEN } },
    host,
    lines,
    elsewhere: elsewhere.origin,
    tip: (branch) => looseRef(upstream.directory, branch) ?? "",
    strangers: () => elsewhere.requests,
    async commit(name, parent) {
      const made = await upstream.write([{ name, parents: [parent], files: { f: name } }]);
      return made[name] ?? "";
    },
    async move() {
      const name = crypto.randomUUID();
      const row = { name, branch: "main", parents: [place.tip("main")], files: { f: name } };
      return (await upstream.write([row]))[name] ?? "";
    },
    async hook(script) {
      if (script === null) return await rm(hook);
      await Bun.write(hook, `#!/bin/sh\n${script}\n`);
      await chmod(hook, 0o755);
    },
    reset() {
      Object.assign(host, { faults: {}, after: {}, onGit: () => null });
      for (const recorded of [host.calls, host.requests, elsewhere.requests, lines]) recorded.length = 0;
    },
    async close() {
      await engine.git.close();
      host[Symbol.dispose]();
      elsewhere[Symbol.dispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
  return place;
}

const fresh = () => crypto.randomUUID();

/** A limit of the API's calls that is over when a test says so, instead of after a time. */
function apiLimit() {
  const over = new AbortController();
  const expire = () => over.abort(new DOMException("The operation timed out.", "TimeoutError"));
  let expiresAfterHead = false;
  const [timeout, send] = [AbortSignal.timeout.bind(AbortSignal), fetch];
  const observed = async (...request: Parameters<typeof fetch>) => {
    const response = await send(...request);
    if (expiresAfterHead) expire();
    return response;
  };
  const spies = [
    spyOn(AbortSignal, "timeout").mockImplementation((ms) => (ms === API_MS ? over.signal : timeout(ms))),
    spyOn(globalThis, "fetch").mockImplementation(Object.assign(observed, { preconnect: fetch.preconnect })),
  ];
  return {
    expire,
    /** Once the head of the next response is there. */
    expireAfterHead() {
      expiresAfterHead = true;
    },
    [Symbol.dispose]() {
      for (const spy of spies) spy.mockRestore();
    },
  };
}

async function failure(git: Git, repo: Repository, branch: string, base = "main"): Promise<SvcError> {
  return await git.createBranch(repo, { branch, base }).then(
    (commit) => Promise.reject(new Error(`made at ${commit}`)),
    (error: SvcError) => error,
  );
}

function isPush(request: Request): boolean {
  return request.method === "POST" && request.url.endsWith("/git-receive-pack");
}

/** The first request of a git push: a listing of the branches. */
function isPushGreeting(request: Request): boolean {
  return request.url.endsWith("?service=git-receive-pack");
}

function pushesOf(host: StandIn): number {
  return host.requests.filter(({ method, path }) => method === "POST" && path.endsWith("/git-receive-pack"))
    .length;
}
