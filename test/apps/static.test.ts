import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { caller } from "../helpers/api.ts";
import { type AppBench, benchApps, entryOf, isLive } from "../helpers/apps.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import type { RawAnswer } from "../helpers/raw-http.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES && process.platform === "linux");

let server: SessionServer;
let bench: AppBench;
let signedIn: Awaited<ReturnType<AppBench["signIn"]>>;

const SITE = entryOf({ slug: "site", run: null, static: { dir: "public" } });
const FILES = {
  "public/index.html": "<h1>home</h1>",
  "public/style.css": "body {}",
  "public/data.json": "{}",
  "public/deep/index.html": "deep",
  "public/digits.txt": "0123456789",
  "public/spaced name.txt": "spaced",
  "public/404.html": "not here",
  "public/empty/.gitkeep": "",
  "public/.env": "KEY=secret",
  "public/.git-credentials": "secret",
  "public/.hidden/index.html": "secret",
  "public/deep/.htpasswd": "secret",
  "public/out": { link: "/etc/passwd" },
  "public/up": { link: "../secret.txt" },
  "secret.txt": "secret",
};

beforeAll(async () => {
  if (!POSTGRES) return;
  server = await startSessionServer();
  bench = benchApps({
    ...server,
    call: (method, path, body) =>
      caller(server.url(), server.token)(method, path, body === undefined ? {} : { body }),
  });
  await bench.merge(FILES, [SITE]);
  await bench.becomes("the site is live", isLive(1), { slug: "site" });
  signedIn = await bench.signIn("site");
});
afterAll(() => server?.stop());

const get = (path: string, lines: string[] = [], method = "GET") =>
  bench.visit(path, signedIn, lines, method);
const header = ({ text }: RawAnswer, name: string) =>
  new RegExp(`^${name}: (.*)\\r$`, "im").exec(text)?.[1] ?? null;
const body = ({ text }: RawAnswer) => text.slice(text.indexOf("\r\n\r\n") + 4);

test.each([
  ["/", 200, "text/html", "<h1>home</h1>"],
  ["/index.html", 200, "text/html", "<h1>home</h1>"],
  ["/?a=b", 200, "text/html", "<h1>home</h1>"],
  ["/style.css", 200, "text/css", "body {}"],
  ["/data.json", 200, "application/json", "{}"],
  ["/deep/", 200, "text/html", "deep"],
  ["/spaced%20name.txt", 200, "text/plain", "spaced"],
  ["/missing", 404, "text/html", "not here"],
  ["/empty/", 404, "text/html", "not here"],
  ["/empty", 404, "text/html", "not here"],
  // nothing of a link is served, wherever it leads
  ["/out", 404, "text/html", "not here"],
  ["/up", 404, "text/html", "not here"],
  ["/%2e%2e%2fsecret.txt", 404, "text/html", "not here"],
  ["/..%2fsecret.txt", 404, "text/html", "not here"],
  ["/a%00b", 404, "text/html", "not here"],
  ["/%ff", 404, "text/html", "not here"],
] as const)("a site answers %s with %d", async (path, status, type, text) => {
  const answer = await get(path);
  expect([answer.status, body(answer)]).toEqual([status, text]);
  expect(header(answer, "content-type")).toStartWith(type);
  expect(header(answer, "x-content-type-options")).toBe("nosniff");
});

test.each(["/.env", "/%2eenv", "/.git-credentials", "/.hidden/", "/.hidden/index.html", "/deep/.htpasswd"])(
  "a site serves no dotfiles: %s",
  async (path) => {
    const answer = await get(path);
    expect([answer.status, answer.text.includes("secret")]).toEqual([404, false]);
  },
);

test.each(["POST", "BREW"])("a site is read-only: %s", async (method) => {
  const answer = await get("/", [], method);
  expect([answer.status, header(answer, "allow")]).toEqual([405, "GET, HEAD"]);
});

test.each(["/../secret.txt", "/%2e%2e/secret.txt", "//evil.example/"])(
  "%s is not a valid path",
  async (path) => {
    expect((await get(path)).status).toBe(400);
  },
);

test("a folder without its trailing slash redirects to the one with it", async () => {
  const answer = await get("/deep?x=1");
  expect([answer.status, header(answer, "location")]).toEqual([308, "/deep/?x=1"]);
});

test("conditional requests get 304, and ranges get parts of a file", async () => {
  const etag = header(await get("/digits.txt"), "etag") ?? "";
  expect((await get("/digits.txt", [`If-None-Match: ${etag}`])).status).toBe(304);
  expect((await get("/digits.txt", ['If-None-Match: "other"'])).status).toBe(200);
  for (const [range, status, text, content] of [
    ["bytes=2-4", 206, "234", "bytes 2-4/10"],
    ["bytes=7-", 206, "789", "bytes 7-9/10"],
    ["bytes=-3", 206, "789", "bytes 7-9/10"],
    ["bytes=0-100", 206, "0123456789", "bytes 0-9/10"],
    ["bytes=10-", 416, "", "bytes */10"],
    ["bytes=4-2", 200, "0123456789", null],
    ["lines=1-2", 200, "0123456789", null],
  ] as const) {
    const answer = await get("/digits.txt", [`Range: ${range}`]);
    expect([answer.status, body(answer), header(answer, "content-range")]).toEqual([status, text, content]);
  }
  const changed = await get("/digits.txt", ["Range: bytes=2-4", 'If-Range: "other"']);
  expect(changed.status).toBe(200);
  const head = await get("/digits.txt", [], "HEAD");
  expect([head.status, body(head), header(head, "content-length")]).toEqual([200, "", "10"]);
  expect((await get("/", [], "POST")).status).toBe(405);
});

test("a client's headers about its origin do not choose the site", async () => {
  const { body: app } = await bench.call("GET", "/site");
  const id = app.app.live.deployment_id;
  const answer = await fetch(`${server.url()}/index.html`, { headers: { "X-Forwarded-Site": id } });
  expect(await answer.text()).not.toContain("home");
});

test("a site follows its branch without a sandbox, and stays as it was if the folder is removed", async () => {
  const { app } = await bench.get("site");
  const number = app.live?.number ?? 0;
  await bench.merge({ "public/index.html": "<h1>new</h1>" }, [SITE]);
  await bench.becomes("the next is live", isLive(number + 1), { slug: "site" });
  await until("it answers", async () => body(await get("/")) === "<h1>new</h1>");
  await bench.merge({}, [{ ...SITE, static: { dir: "nowhere" } }]);
  const { app: after } = await bench.becomes("it has failed", ({ error }) => error !== null, {
    slug: "site",
  });
  expect(after).toMatchObject({ state: "live", live: { number: number + 1 } });
  expect(after.error).toContain("The site's folder nowhere does not exist in the commit");
  expect(body(await get("/"))).toBe("<h1>new</h1>");
  expect(existsSync(join(server.dataDir, "sites"))).toBe(true);
  expect(existsSync(join(server.dataDir, "sandboxes"))).toBe(false);
});

test("a built site is copied from its sandbox, which then stops, without links that lead out of it", async () => {
  const entry = entryOf({
    slug: "built",
    run: null,
    static: { dir: "dist" },
    build:
      'mkdir -p dist/deep && echo "$WORD" > dist/index.html && echo deep > dist/deep/a.txt && ln -s /etc/passwd dist/link && ln -s ../secret.txt dist/up',
    env: { WORD: "built" },
  });
  await bench.merge({}, [SITE, entry]);
  const { app } = await bench.becomes("it is live", isLive(1), { slug: "built" });
  const visitor = await bench.signIn("built");
  expect(body(await bench.visit("/", visitor))).toBe("built\n");
  expect(body(await bench.visit("/deep/a.txt", visitor))).toBe("deep\n");
  for (const path of ["/link", "/up"]) expect((await bench.visit(path, visitor)).status).toBe(404);
  const id = app.live?.deployment_id ?? "";
  await until("its sandbox has ended", () => server.processes(id).length === 0);
  expect((await bench.get("built")).app.state).toBe("live");
  expect(body(await bench.visit("/", visitor))).toBe("built\n");

  await bench.merge({}, [SITE, { ...entry, build: "true" }]);
  const { app: after } = await bench.becomes("the next has failed", ({ error }) => error !== null, {
    slug: "built",
  });
  expect(after.error).toContain("did not create the site's folder dist");
  expect(body(await bench.visit("/", visitor))).toBe("built\n");
});
