import { afterAll, beforeAll, expect } from "bun:test";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type GatewayBench, runClient, runClientWith, scratch, startGateway } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import type { Ran } from "../helpers/run-command.ts";

const test = needs("a real Postgres", POSTGRES);
const withCurl = needs("a real Postgres and curl", POSTGRES && Bun.which("curl") !== null);

let bench: GatewayBench;
const work = scratch();
/** The gateway URL of a project that svc hosts, without credentials. */
let url: string;
let tip: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startGateway();
  url = bench.url(bench.hosted, null);
  await runClient(work.path, "init", "--quiet", "-b", "main");
  await runClient(work.path, "commit", "--quiet", "--allow-empty", "-m", "first");
  tip = (await runClient(work.path, "rev-parse", "HEAD")).out.trim();
  await runClient(work.path, "push", bench.url(bench.hosted, bench.api.token), "main");
});

afterAll(async () => {
  await bench?.stop();
  work[Symbol.dispose]();
});

/** Where a token may stand. */
const SIGNED: Record<string, (token: string) => string[]> = {
  "as the password": (token) => [withUser(`anyone:${token}`)],
  "as the password of nobody": (token) => [withUser(`:${token}`)],
  "as the user name, with an empty password": (token) => [withUser(`${token}:`)],
  "as the user name, with the password of old habit": (token) => [withUser(`${token}:x-oauth-basic`)],
  "in a header of its own": (token) => ["-c", `http.extraHeader=Authorization: Bearer ${token}`, url],
};

test.each(Object.entries(SIGNED))("accepts a token %s", async (_, place) => {
  const [address = "", ...flags] = place(bench.api.token).toReversed();
  const listed = await runClient(work.path, ...flags.toReversed(), "ls-remote", address, "HEAD");
  expect(listed).toMatchObject({ code: 0, out: `${tip}\tHEAD\n` });
  const [other = "", ...others] = place("svc_pat_wrong").toReversed();
  const refused = await runClient(work.path, ...others.toReversed(), "ls-remote", other);
  expect(refused.code).not.toBe(0);
  expect(refused.err).toMatch(/Authentication failed|could not read Username/);
});

test("git calls a credential helper: get, then store if the credential is valid, erase if it is not", async () => {
  using folder = scratch();
  const helper = join(folder.path, "helper");
  const asked = join(folder.path, "asked");
  writeFileSync(
    helper,
    `#!/bin/sh\necho "$1" >>${asked}\nsed 's/^/  /' >>${asked}\ntest "$1" = get && printf 'username=x\\npassword=%s\\n' "$TOKEN"\nexit 0\n`,
  );
  chmodSync(helper, 0o755);
  const list = (token: string) =>
    runClientWith({ TOKEN: token }, work.path, "-c", `credential.helper=${helper}`, "ls-remote", url, "HEAD");
  expect(await list(bench.api.token)).toMatchObject({ code: 0, out: `${tip}\tHEAD\n` });
  const right = readFileSync(asked, "utf8");
  expect(right.match(/^\w+$/gm)).toEqual(["get", "store"]);
  expect(right).toContain(`  host=${new URL(url).host}\n`);
  writeFileSync(asked, "");
  const wrong = await list("svc_pat_wrong");
  expect(wrong.code).toBe(128);
  expect(wrong.err).toContain("Authentication failed");
  expect(wrong.err).toContain("remote: The token is unknown or revoked. Sign in again with: svc login");
  expect(readFileSync(asked, "utf8").match(/^\w+$/gm)).toEqual(["get", "erase"]);
});

test("the URL may have the project's slug, and omit .git", async () => {
  const { slug, project_id } = (
    await bench.api.call("GET", `/v1/projects/${bench.hosted.project.project_id}`)
  ).body;
  for (const name of [slug, `${slug}.git`, project_id, `${project_id.toUpperCase()}.git`]) {
    const address = withUser(`x:${bench.api.token}`).replace(/[^/]+$/, name);
    expect(await runClient(work.path, "ls-remote", address, "HEAD")).toMatchObject({
      code: 0,
      out: `${tip}\tHEAD\n`,
    });
  }
});

test("git reports that an unknown project is not found", async () => {
  const address = withUser(`x:${bench.api.token}`).replace(/[^/]+$/, "no-such-project.git");
  for (const command of [
    ["clone", address, "x"],
    ["push", address, "main"],
  ]) {
    const ran = await runClient(work.path, ...command);
    expect(ran.code).toBe(128);
    expect(ran.err).toContain("not found among those of your accounts");
    expect(ran.err).toContain("not found");
  }
});

test("rejects the dumb protocol with a message that git shows", async () => {
  const ran = await runClientWith(
    { GIT_SMART_HTTP: "0" },
    work.path,
    "ls-remote",
    withUser(`x:${bench.api.token}`),
  );
  expect(ran.code).toBe(128);
  expect(ran.err).toContain("remote: Only git's smart HTTP protocol is supported");
  const paths = [
    "HEAD",
    "info/refs",
    "info/refs?service=git-upload-archive",
    "objects/info/packs",
    "objects/00/11",
    "git-upload-archive",
    "",
  ];
  for (const path of paths) {
    const answer = await ask(`${url}/${path}`);
    expect([path, answer.status]).toEqual([path, 404]);
    expect(await answer.text()).toContain("smart HTTP");
  }
});

const NOTHING = "0000";

/** Requests that no git sends → the status that answers them. */
const ODD: [string, RequestInit & { path: string }, number][] = [
  ["a POST to a GET route", { path: "info/refs?service=git-upload-pack", method: "POST" }, 405],
  ["a GET of a POST route", { path: "git-upload-pack" }, 405],
  [
    "a body of another kind",
    { path: "git-upload-pack", method: "POST", body: NOTHING, headers: { "Content-Type": "text/plain" } },
    404,
  ],
  [
    "a body with an unknown encoding",
    { ...question(NOTHING), headers: { ...question("").headers, "Content-Encoding": "br" } },
    400,
  ],
  [
    "a body that is declared as gzip and is not",
    { ...question("0000not gzip at all"), headers: { ...question("").headers, "Content-Encoding": "gzip" } },
    400,
  ],
  [
    "an invalid push",
    {
      ...question("zzzzwhat"),
      path: "git-receive-pack",
      headers: { "Content-Type": "application/x-git-receive-pack-request" },
    },
    400,
  ],
];

test.each(ODD)("rejects %s", async (_, { path, ...init }, status) => {
  const answer = await ask(`${url}/${path}`, init);
  const text = await answer.text();
  expect(answer.status).toBe(status);
  expect(text).toMatch(/^[A-Za-z].*\.\n$/);
  expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
});

test("accepts a gzip body", async () => {
  const list = `${line("command=ls-refs\n")}0001${line("peel\n")}0000`;
  const plain = await ask(`${url}/git-upload-pack`, question(list));
  const packed = await ask(`${url}/git-upload-pack`, {
    ...question(""),
    body: gzipSync(list),
    headers: { ...question("").headers, "Content-Encoding": "gzip" },
  });
  const [one, two] = [await plain.text(), await packed.text()];
  expect(one).toContain(`${tip} refs/heads/main`);
  expect(two).toBe(one);
});

withCurl("a client that waits for `100 Continue` gets it", async () => {
  const body = join(work.path, "body");
  writeFileSync(body, `${line("command=ls-refs\n")}0001${line("peel\n")}0000`);
  const child = Bun.spawn(
    [
      ...["curl", "--silent", "--verbose", "--expect100-timeout", "20", "--header", "Expect: 100-continue"],
      ...["--header", `Authorization: Bearer ${bench.api.token}`, "--header", "Git-Protocol: version=2"],
      ...["--header", "Content-Type: application/x-git-upload-pack-request", "--data-binary", `@${body}`],
      `${url}/git-upload-pack`,
    ],
    { stdout: "pipe", stderr: "pipe" },
  );
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(err).toContain("< HTTP/1.1 100 Continue");
  expect(out).toContain(`${tip} refs/heads/main`);
});

test.each(["HTTP/1.1", "HTTP/2"])("serves a git that prefers %s", async (version) => {
  const ran: Ran = await runClient(
    work.path,
    "-c",
    `http.version=${version}`,
    "ls-remote",
    withUser(`x:${bench.api.token}`),
    "HEAD",
  );
  expect(ran).toMatchObject({ code: 0, out: `${tip}\tHEAD\n` });
});

function withUser(user: string): string {
  return url.replace("://", `://${user}@`);
}

function ask(address: string, init: RequestInit = {}): Promise<Response> {
  const authorization = { Authorization: `Bearer ${bench.api.token}` };
  return fetch(address, { ...init, headers: { ...init.headers, ...authorization } });
}

/** What git posts to be answered in version 2. */
function question(body: string) {
  return {
    path: "git-upload-pack",
    method: "POST",
    body,
    headers: { "Content-Type": "application/x-git-upload-pack-request", "Git-Protocol": "version=2" },
  };
}

/** A line of git's protocol: its length in hex, and then itself. */
function line(text: string): string {
  return `${(text.length + 4).toString(16).padStart(4, "0")}${text}`;
}
