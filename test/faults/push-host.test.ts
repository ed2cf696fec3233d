import { afterAll, afterEach, beforeAll, expect, spyOn } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type GatewayBench, refsOf, runClient, scratch, startGateway } from "../helpers/gateway.ts";
import { backend, type GitHttpServer, serveGit } from "../helpers/git-http.ts";
import { createRepository, type TestRepository } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { sample } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";
import type { Ran } from "../helpers/run-command.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const TOKEN = "s3cr3t+token/with=signs";
const BASIC = Buffer.from(`x-access-token:${TOKEN}`).toString("base64");
/** A push that waits for its host is given up after this: no other timer has this length. */
const FORWARD_MS = 3_600_001;

/** Where the host is: the same rules apply, and a run draws one for each of them. */
const KINDS = ["file", "http"] as const;

let bench: GatewayBench;
let work: TestRepository;
let first: string;
const folder = scratch();
/** Undone after each test, the newest first. */
const undo: (() => unknown)[] = [];

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startGateway({}, { forwardMs: FORWARD_MS });
  work = await createRepository(join(folder.path, "work.git"));
  first = (await work.write([{ name: "first", files: { f: "1\n" } }]))["first"] ?? "";
});

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

afterAll(async () => {
  await bench?.stop();
  folder[Symbol.dispose]();
});

interface Place {
  remote: Remote;
  next: string;
  push(...args: string[]): Promise<Ran>;
  /** What the gateway shows, which must be what the host has. */
  served(): Promise<Record<string, string>>;
}

type Instead = (request: Request, remote: Remote) => Response | null | Promise<Response | null>;

/** A project on a host of the test's, with one commit on main and another that is to be pushed. */
async function start(kind: "file" | "http", instead: Instead = () => null): Promise<Place> {
  const remote = new Remote();
  undo.push(() => remote.remove());
  await work.git("push", "--quiet", remote.path, `${first}:refs/heads/main`);
  const server: GitHttpServer = serveGit(join(remote.path, ".."), (request) => instead(request, remote));
  undo.push(() => server[Symbol.dispose]());
  const { project_id } =
    kind === "file"
      ? await bench.api.project(remote.url)
      : await bench.api.project(`${server.origin}/${basename(remote.path)}`, { git_token: TOKEN });
  const url = bench.url({ project: { project_id, account_id: "" }, directory: remote.path }, bench.api.token);
  const written = await work.write([{ name: "next", parents: [first], files: { f: crypto.randomUUID() } }]);
  return {
    remote,
    next: written["next"] ?? "",
    push: (...args) => runClient(work.directory, "push", url, ...args),
    async served() {
      const { out } = await runClient(work.directory, "ls-remote", "--refs", url);
      const lines = out.split("\n").filter(Boolean);
      return Object.fromEntries(lines.map((line) => line.split("\t").reverse()));
    },
  };
}

const isPush = (request: Request) => request.method === "POST" && request.url.endsWith("/git-receive-pack");

test.each(sample(1, KINDS))(
  "%s: a push to a host that hangs after it accepted the push is found on the host",
  async (kind) => {
    const { remote, next, push, served } = await start(kind);
    remote.hook("post-receive", hang(remote));
    const result = await pastDeadline(isHanging(remote), () =>
      push(`${next}:refs/heads/main`, `${next}:refs/tags/v1`),
    );
    expect(result).toMatchObject({ code: 0 });
    expect(await served()).toEqual({ "refs/heads/main": next, "refs/tags/v1": next });
  },
);

test.each(sample(1, KINDS))(
  "%s: a push to a host that hangs before it accepts the push has failed",
  async (kind) => {
    const { remote, next, push, served } = await start(kind);
    remote.hook("pre-receive", `${hang(remote)}; exit 1`);
    const result = await pastDeadline(isHanging(remote), () => push(`${next}:refs/heads/main`));
    expect(result.code).toBe(1);
    expect(result.err).toContain("the git host did not accept it");
    expect(await served()).toEqual({ "refs/heads/main": first });
  },
);

test("the pusher gets the host's rejection message, without escape sequences and the credential", async () => {
  const { remote, next, push, served } = await start("http");
  const words = `no \\033[31mred\\033[0m branches\\007 today\\nyou are ${TOKEN}, ${BASIC}, ${encodeURIComponent(TOKEN)}\\nAuthorization: Basic ${BASIC}\\nask https://x:${TOKEN}@host/why\\n`;
  remote.hook("pre-receive", `printf '${words.replaceAll("%", "%%")}' >&2; exit 1`);
  const result = await push(`${next}:refs/heads/main`);
  expect(result.code).toBe(1);
  expect(result.err).toContain("remote: no red branches today");
  expect(result.err).toContain("pre-receive hook declined");
  expect(result.err).toContain("ask https://host/why");
  for (const secret of secrets()) expect(result.err).not.toContain(secret);
  expect(result.err).not.toMatch(/[\u001b\u0007]/);
  expect(await served()).toEqual({ "refs/heads/main": first });
});

test("forwards the host's messages for an accepted push, too", async () => {
  const { remote, next, push } = await start("http");
  remote.hook("post-receive", `echo 'open a merge request: https://x:${TOKEN}@host/new' >&2`);
  const result = await push(`${next}:refs/heads/work`);
  expect(result).toMatchObject({ code: 0 });
  expect(result.err).toContain("remote: open a merge request: https://host/new");
});

test("reports the host's result for each of several refs", async () => {
  const { remote, next, push, served } = await start("http");
  remote.hook("update", `[ "$1" != refs/heads/main ] || { echo 'main is closed' >&2; exit 1; }`);
  const result = await push(`${next}:refs/heads/main`, `${next}:refs/heads/work`, `${next}:refs/tags/v1`);
  expect(result.code).toBe(1);
  expect(result.err).toMatch(/remote rejected\].* -> main \(hook declined\)/);
  expect(result.err).toMatch(/new branch\].* -> work/);
  expect(result.err).toMatch(/new tag\].* -> v1/);
  expect(result.err).toContain("remote: main is closed");
  const expected = { "refs/heads/main": first, "refs/heads/work": next, "refs/tags/v1": next };
  expect(await refsOf(remote.path)).toEqual(expected);
  expect(await served()).toEqual(expected);
});

test("an atomic push of which the host rejects one ref changes nothing", async () => {
  const { remote, next, push, served } = await start("http");
  remote.hook("update", `[ "$1" != refs/heads/main ]`);
  const result = await push("--atomic", `${next}:refs/heads/main`, `${next}:refs/heads/work`);
  expect(result.code).toBe(1);
  expect(result.err.match(/remote rejected\]/g)).toHaveLength(2);
  expect(await served()).toEqual({ "refs/heads/main": first });
});

/** What a host may answer to a push that it has accepted. */
const ANSWERS: readonly (readonly [what: string, answer: () => Response])[] = [
  [
    "ends the connection without a word",
    () => new Response(new ReadableStream({ start: (controller) => controller.error(null) })),
  ],
  ["answers 500", () => new Response("no", { status: 500 })],
  ["answers nonsense", () => new Response("0000nonsense")],
  ["answers nothing", () => new Response("")],
];

test.each(sample(2, ANSWERS))("a push succeeds if the host accepts it and then %s", async (_, answer) => {
  const { remote, next, push, served } = await start("http", async (request, { path }) => {
    if (!isPush(request)) return null;
    await backend(join(path, ".."), request);
    return answer();
  });
  const result = await push(`${next}:refs/heads/main`, `${next}:refs/tags/v1`);
  expect(result).toMatchObject({ code: 0 });
  const expected = { "refs/heads/main": next, "refs/tags/v1": next };
  expect(await refsOf(remote.path)).toEqual(expected);
  expect(await served()).toEqual(expected);
});

/** How a host may refuse a push. */
const REFUSALS: readonly (readonly [what: string, answer: () => Response, isWaiting: boolean])[] = [
  ["is away", () => new Response("no", { status: 503 }), false],
  ["wants another credential", () => new Response("who?", { status: 401 }), false],
  ["has moved", () => Response.redirect("http://127.0.0.1:1/elsewhere", 301), false],
  // git waits for the rest of the packet, although the answer has ended
  ["answers nonsense", () => new Response("001fnonsense"), true],
];

test.each(sample(2, REFUSALS))("a push fails with an error if the host %s", async (_, answer, isWaiting) => {
  let answered = false;
  const { next, push, served } = await start("http", (request) => {
    answered ||= isPush(request);
    return isPush(request) ? answer() : null;
  });
  const pushing = () => push(`${next}:refs/heads/main`);
  const result = isWaiting ? await pastDeadline(() => answered, pushing) : await pushing();
  expect(result.code).toBe(1);
  expect(result.err).toMatch(/the git host (?:did not accept it|could not be reached)/);
  for (const secret of secrets()) expect(result.err).not.toContain(secret);
  expect(await served()).toEqual({ "refs/heads/main": first });
});

test("rejects a push if the branch has moved on its host, with the advice to fetch", async () => {
  let moved = "";
  const { remote, next, push, served } = await start("http", (request, host) => {
    if (isPush(request)) moved ||= host.commit("main", { g: "by another\n" });
    return null;
  });
  const result = await push(`${next}:refs/heads/main`);
  expect(result.code).toBe(1);
  expect(result.err).toContain("fetch first");
  expect(remote.sha("main")).toBe(moved);
  expect(await served()).toEqual({ "refs/heads/main": moved });
});

test("re-creates a mirror that is lost while the host accepts the push", async () => {
  const mirrors = join(bench.api.dataDir, "mirrors");
  const { next, push, served } = await start("http", (request) => {
    if (isPush(request))
      for (const name of readdirSync(mirrors)) rmSync(join(mirrors, name), { recursive: true });
    return null;
  });
  expect(await push(`${next}:refs/heads/main`)).toMatchObject({ code: 0 });
  expect(await served()).toEqual({ "refs/heads/main": next });
});

/** A hook that ends with the test. */
function hang({ path }: Remote): string {
  writeFileSync(join(path, "halt"), "");
  return `touch '${path}/hangs'; while [ -e '${path}/halt' ]; do sleep 0.05; done`;
}

function isHanging({ path }: Remote): () => boolean {
  return () => existsSync(join(path, "hangs"));
}

/** Lets the deadline of a push pass once its host hangs. */
async function pastDeadline(isHanging: () => boolean, push: () => Promise<Ran>): Promise<Ran> {
  const timers = spyOn(globalThis, "setTimeout");
  try {
    const pushed = push();
    await until("the host hangs", isHanging);
    const [expire] = timers.mock.calls.findLast(([, ms]) => ms === FORWARD_MS) ?? [];
    if (typeof expire !== "function") throw new Error("the push has no deadline");
    expire();
    return await pushed;
  } finally {
    timers.mockRestore();
  }
}

function secrets(): string[] {
  return [TOKEN, BASIC, encodeURIComponent(TOKEN)];
}

test.each(sample(1, KINDS))(
  "%s: accepts a change that another push has already made, and does not overwrite a different one",
  async (kind) => {
    const place = await start(kind);
    const { remote, next } = place;
    for (const name of ["gone", "moved"]) remote.branch(name, first);
    // the client has seen the refs, and has not sent anything yet
    const hook = join(work.directory, "hooks/pre-push");
    mkdirSync(join(hook, ".."), { recursive: true });
    undo.push(() => rmSync(hook, { force: true }));
    const [other] = Object.values(
      await work.write([{ name: "other", parents: [first], files: { f: "other" } }]),
    );
    await work.git("push", "--quiet", remote.path, `${other}:refs/heads/other`);
    const git = `git --git-dir=${remote.path}`;
    writeFileSync(
      hook,
      `#!/bin/sh\n${git} update-ref -d refs/heads/gone\n${git} update-ref refs/heads/moved ${other}\n`,
      { mode: 0o755 },
    );
    const both = await place.push(":refs/heads/gone", `${next}:refs/heads/moved`);
    expect(both.code).not.toBe(0);
    expect(both.err).toMatch(/- \[deleted\] +gone/);
    expect(both.err).toMatch(/moved \(fetch first\)/);
    expect(await refsOf(remote.path)).toMatchObject({ "refs/heads/moved": other });
    expect(await place.served()).toEqual(await refsOf(remote.path));
  },
);
