import { afterAll, beforeAll, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { DASHBOARD_FOLDER } from "../../src/edge/dashboard/files.ts";
import { type Api, startApi } from "../helpers/api.ts";

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const PAGES = [
  "/",
  "/login",
  "/welcome",
  "/cli/authorize?code=X",
  "/projects/x/change-requests/1",
  "/settings",
];

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(api.url + path, { headers, decompress: false });

/** What a page loads first. */
async function loadedBy(page: string): Promise<string[]> {
  return [...(await (await ask(page)).text()).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(
    ([, path = ""]) => path,
  );
}

test("every page has a content security policy that allows only svc's resources, and the same script", async () => {
  const answers = await Promise.all(PAGES.map((page) => ask(page)));
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  expect(new Set(texts.map((text) => /<script.*<\/script>/.exec(text)?.[0])).size).toBe(1);
  for (const { status, headers } of answers) {
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers.get("cache-control")).toBe("no-cache");
  }
});

test.each(PAGES)(
  "the document of %s has no inline scripts or styles, and all that it loads exists",
  async (page) => {
    const text = await (await ask(page)).text();
    expect(text).not.toMatch(/<style|\son\w+=|style=|<script(?![^>]*\ssrc=)/);
    const paths = await loadedBy(page);
    expect(paths.length).toBeGreaterThan(3);
    for (const path of paths) expect([path, (await ask(path)).status]).toEqual([path, 200]);
  },
);

test("an address without a page of its own has the document that names no page's code", async () => {
  const preloads = async (path: string) =>
    (await (await ask(path)).text()).match(/modulepreload/g)?.length ?? 0;
  const one = "/projects/x/change-requests";
  const [list, under, nothing] = await Promise.all([one, `${one}/1/none`, "/projects/x/none"].map(preloads));
  expect(list).toBeGreaterThan(0);
  expect([under, nothing]).toEqual([0, 0]);
});

test("no script has the server's validation: pages import texts and limits, which are in files without schemas", async () => {
  const scripts = [...new Bun.Glob("*.js").scanSync({ cwd: DASHBOARD_FOLDER, absolute: true })];
  expect(scripts.length).toBeGreaterThan(20);
  for (const script of scripts)
    expect([script, (await Bun.file(script).text()).includes("TypeBox.Kind")]).toEqual([script, false]);
});

test("files with a hash in their name are cached permanently, and others are revalidated", async () => {
  for (const path of new Set(["/login", ...(await loadedBy("/login")), ...(await loadedBy("/"))])) {
    const { headers } = await ask(path);
    const forever = headers.get("cache-control") === "public, max-age=31536000, immutable";
    expect([path, forever]).toEqual([path, /-\w{8}\.(?:js|css)$/.test(path)]);
    const again = await ask(path, { "If-None-Match": headers.get("etag") ?? "" });
    expect([path, again.status, (await again.bytes()).length]).toEqual([path, 304, 0]);
  }
});

test.each([
  ["br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip", "gzip"],
  ["br;q=0, gzip;q=0.5", "gzip"],
  ["identity", null],
  ["", null],
])("a client that accepts %p gets %p", async (accepted, encoding) => {
  const script = (await loadedBy("/")).find((path) => path.endsWith(".js")) ?? "";
  const answer = await ask(script, { "Accept-Encoding": accepted });
  expect(answer.headers.get("content-encoding")).toBe(encoding);
  expect(answer.headers.get("vary")).toBe("Accept-Encoding");
  const bytes = await answer.bytes();
  const plain = encoding === "br" ? brotliDecompressSync(bytes) : encoding ? gunzipSync(bytes) : bytes;
  const whole = await (await ask(script, { "Accept-Encoding": "identity" })).bytes();
  expect(Buffer.compare(plain, whole)).toBe(0);
});

test.each([
  "/assets/none.js",
  "/assets/index.html",
  "/assets/page-0.html",
  "/assets/..%2ffiles.json",
  "/assets/files.json",
  "/assets/",
])("%s is not found", async (path) => {
  expect((await ask(path)).status).toBe(404);
});

test("an unknown address is 404, for the API and the pages", async () => {
  for (const path of ["/v1/none", "/none", "/login/none"]) expect((await ask(path)).status).toBe(404);
});

/** Compressed bytes of script that a first visit loads (issue: 250 kB). */
const FIRST_LOAD_MAX = 250_000;

test("the first load is small", async () => {
  const scripts = (await loadedBy("/")).filter((path) => path.endsWith(".js"));
  const sizes = await Promise.all(
    scripts.map(async (path) => (await (await ask(path, { "Accept-Encoding": "br" })).bytes()).length),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeGreaterThan(20_000);
  expect(total).toBeLessThan(FIRST_LOAD_MAX);
});
