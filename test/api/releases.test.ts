import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import { fillIn, readInstallScript } from "../../src/edge/releases/install-script.ts";
import { originFor } from "../../src/edge/releases/origin.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { rawRequest, sendRaw } from "../helpers/raw-http.ts";
import { archiveOf, makeRelease, makeReleaseKey } from "../helpers/release.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-releases-"));
const key = makeReleaseKey();
const ARCHIVE = archiveOf("1.2.3");
let api: Api;

beforeAll(async () => {
  makeRelease(folder, { version: "1.2.3", key });
  symlinkSync("/etc/passwd", join(folder, "1.2.3", "linked"));
  mkdirSync(join(folder, "1.2.3", "folder"));
  writeFileSync(join(folder, "1.2.3", ".hidden"), "x");
  writeFileSync(join(folder, "secret"), "x");
  api = await startApi({ env: { SVC_RELEASES_DIR: folder } });
});
afterAll(async () => {
  await api.stop();
  rmSync(folder, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  api.call("GET", path, { token: null, headers });

test("serves the newest version, the key and the files of a version, to callers without an account", async () => {
  const latest = await get("/releases/latest");
  expect([latest.status, latest.text]).toEqual([200, "1.2.3\n"]);
  expect((await get("/releases/release-key.pub")).text).toBe(key.pem);
  const answer = await get("/releases/1.2.3/SHA256SUMS");
  expect(answer.text).toBe(await Bun.file(join(folder, "1.2.3/SHA256SUMS")).text());
  expect((await get("/v1/release")).body).toEqual({ version: "1.2.3" });
});

test("a file can be cached for ever, continued, and asked for by its head", async () => {
  const file = await Bun.file(join(folder, "1.2.3", ARCHIVE)).bytes();
  const path = `${api.url}/releases/1.2.3/${ARCHIVE}`;
  const whole = await fetch(path);
  expect(new Uint8Array(await whole.arrayBuffer())).toEqual(file);
  expect(whole.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  const etag = whole.headers.get("etag") ?? "";
  expect((await fetch(path, { headers: { "If-None-Match": etag } })).status).toBe(304);
  const head = await fetch(path, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, String(file.length)]);
  const last = file.length - 1;
  for (const [range, start, end] of [
    ["bytes=0-0", 0, 0],
    ["bytes=10-", 10, last],
    [`bytes=10-${last + 50}`, 10, last],
    ["bytes=-5", last - 4, last],
    [`bytes=-${last + 50}`, 0, last],
  ] as const) {
    const part = await fetch(path, { headers: { Range: range, "If-Range": etag } });
    expect([range, part.status, part.headers.get("content-range")]).toEqual([
      range,
      206,
      `bytes ${start}-${end}/${file.length}`,
    ]);
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(file.slice(start, end + 1));
  }
  for (const range of [`bytes=${file.length}-`, "bytes=-0"])
    expect([range, (await fetch(path, { headers: { Range: range } })).status]).toEqual([range, 416]);
  for (const headers of [
    { Range: "bytes=5-2" },
    { Range: "bytes=0-1,3-4" },
    { Range: "lines=1-2" },
    { Range: "bytes=0-0", "If-Range": '"other"' },
  ])
    expect((await fetch(path, { headers: new Headers(headers) })).status).toBe(200);
});

test.each([
  "/releases/1.2.3/nothing",
  "/releases/1.2.4/SHA256SUMS",
  "/releases/1.2.3/..%2fsecret",
  "/releases/1.2.3/%2e%2e%2fsecret",
  "/releases/..%2f..%2f..%2fetc/passwd",
  "/releases/%2e%2e/secret",
  "/releases/1.2.3/linked",
  "/releases/1.2.3/folder",
  "/releases/1.2.3/.hidden",
  "/releases/1.2.3/SHA256SUMS%00",
  "/releases/secret",
  "/releases/1.2.3",
])("%s is not a file of a release", async (path) => {
  const { status } = await sendRaw(api.url, rawRequest(path, ["Host: localhost"]));
  expect([400, 404]).toContain(status);
});

/** The values that a shell assigns by the script, which is not run. */
function assigned(script: string): string[] {
  const start = script.indexOf("{");
  const lines = script.slice(start + 2, script.indexOf("SYSTEM_BIN="));
  const { stdout } = Bun.spawnSync(["sh", "-c", `${lines}\nprintf '%s\\n' "$ORIGIN" "$PUBLIC_KEY"`]);
  return stdout.toString().trimEnd().split("\n");
}

test("the script names this server as the client reached it, and pins the key of its releases", async () => {
  const { status, headers, text } = await get("/install.sh");
  expect([status, headers.get("content-type")]).toEqual([200, "text/x-shellscript; charset=utf-8"]);
  expect(assigned(text)).toEqual([api.url, key.line]);
  expect(text).toEndWith('main "$@"\n}\n');
});

test.each([
  "$(touch${IFS}hostile)",
  "`touch`",
  "a.example'; touch hostile; '",
  "a.example;touch",
  "a.example/$HOME",
  "a'b",
  "a\\b",
  "user@a.example",
  "a.example:99999999",
  "-a.example",
  "[::1",
  "[$(x)]",
])("a host %s is not written into the script", async (host) => {
  const lines = [`Host: ${host}`, `X-Forwarded-Host: ${host}`];
  const { status, text } = await sendRaw(api.url, rawRequest("/install.sh", lines));
  // the listener refuses most of them itself
  if (status !== 200) return expect(status).toBe(400);
  const own = { origin: api.url.replace("127.0.0.1", "localhost"), publicKey: key.line };
  expect(text).toEndWith(fillIn(readInstallScript(), own));
});

test.each(["svc.example.com", "svc.example.com:8443", "[::1]:8008", "10.0.0.7"])(
  "a client that uses the host %s gets it",
  async (host) => {
    const { text } = await sendRaw(api.url, rawRequest("/install.sh", [`Host: ${host}`]));
    expect(assigned(text)[0]).toBe(`http://${host}`);
  },
);

test("with SVC_PUBLIC_URL, the script names that address, whatever the client used", () => {
  const api = () => ({ hostname: "127.0.0.1", port: 8008 });
  const config = readConfig({ SVC_PUBLIC_URL: "https://svc.example.com/" });
  expect(originFor({ config, api }, "10.0.0.7:8008")).toBe("https://svc.example.com");
  expect(originFor({ config: readConfig({}), api }, "10.0.0.7:8008")).toBe("http://10.0.0.7:8008");
});

test("values are quoted for the shell", () => {
  const hostile = { origin: "https://a.example/$(touch x)`touch x`'; touch x; '\\", publicKey: '$1 $& $$ "' };
  expect(assigned(fillIn(readInstallScript(), hostile))).toEqual([hostile.origin, hostile.publicKey]);
});

test.each(["latest", "release-key.pub"])(
  "without the file %s there is nothing to install, until it appears",
  async (name) => {
    const path = join(folder, name);
    const content = readFileSync(path);
    for (const other of [null, "not one\n", "x".repeat(10_000)]) {
      rmSync(path, { force: true });
      if (other !== null) writeFileSync(path, other);
      const answer = await get("/install.sh");
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
      expect(answer.body.error).toContain("SVC_RELEASES_DIR");
      expect((await get("/v1/release")).body).toEqual({ version: null });
    }
    writeFileSync(path, content);
    expect((await get("/install.sh")).status).toBe(200);
  },
);
