import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { configPath, readConfig } from "../../cli/config.ts";
import { updateConfig } from "../../cli/config-write.ts";
import { normalizeUrl } from "../../cli/hosts.ts";
import { freePort } from "../../scripts/free-port.ts";
import { ACCOUNT_ID, failure, fakeApi, PROJECT_ID, PROJECT_IDENTITY, TOKEN } from "../helpers/cli-api.ts";
import { makeHome, type RunOptions, svc, svcProcess } from "../helpers/cli-run.ts";
import { share } from "../helpers/random.ts";

const api = fakeApi();
const other = fakeApi();
afterAll(() => {
  api.stop();
  other.stop();
});
beforeEach(() => {
  api.reset();
  other.reset();
});

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
const stored = (path: string) => JSON.parse(readFileSync(path, "utf8"));

function write(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
}

describe("the file", () => {
  test("is readable only by its owner, and so is its folder", async () => {
    const home = makeHome();
    const ran = await svc(["login", "--api", api.url, "--token", "-"], { home, stdin: `${TOKEN}\n` });
    expect(ran.stdout).toMatch(/^Signed in to 127\.0\.0\.1-\d+ as ada@example\.com\.\n$/);
    expect([mode(home.config), mode(dirname(home.config))]).toEqual(["600", "700"]);
    const name = `127.0.0.1-${new URL(api.url).port}`;
    expect(stored(home.config)).toEqual({
      active: name,
      hosts: {
        [name]: { url: api.url, token: TOKEN, user_email: "ada@example.com", account_id: ACCOUNT_ID },
      },
    });
    expect(ran.stdout + ran.stderr).not.toContain(TOKEN);
    chmodSync(home.config, 0o644);
    await svc(["hosts", "use", "cloud"], { home });
    expect(mode(home.config)).toBe("600");
    expect(readdirSync(dirname(home.config))).toEqual(["config.json"]);
  });

  test.each([
    ["not json", "{"],
    ["a list", "[]"],
    ["hosts of another kind", '{"hosts":[]}'],
    ["an entry of another kind", '{"hosts":{"a":1}}'],
    ["a token of another kind", '{"hosts":{"cloud":{"token":1}}}'],
    ["a token that no header can hold", '{"hosts":{"cloud":{"token":"a\\nb"}}}'],
    ["a host without address", '{"hosts":{"a":{}}}'],
    ["a host name that is none", '{"hosts":{"A B":{"url":"http://x"}}}'],
    ["an address that is none", '{"hosts":{"a":{"url":"javascript:1"}}}'],
    ["an active that is none", '{"active":"../x"}'],
    ["nothing", ""],
  ])("is not replaced if it is damaged: %s", async (_, text) => {
    const home = makeHome();
    write(home.config, text);
    for (const line of [
      ["hosts", "use", "cloud"],
      ["login", "--api", api.url, "--token", TOKEN],
      ["logout"],
      ["hosts", "ls"],
    ]) {
      const ran = await svc(line, { home });
      expect(ran).toMatchObject({ code: 1, stdout: "" });
      expect(ran.stderr).toContain(home.config);
    }
    expect(readFileSync(home.config, "utf8")).toBe(text);
    expect(api.seen).toHaveLength(0);
  });

  test("keeps unknown fields, and a symbolic link to it stays a link", async () => {
    const home = makeHome();
    const real = join(home.home, "dotfiles.json");
    write(real, { active: "cloud", theme: "dark", hosts: { a: { url: "http://a.example/v1", note: "x" } } });
    mkdirSync(dirname(home.config), { recursive: true });
    symlinkSync(real, home.config);
    await svc(["hosts", "use", "a"], { home });
    expect(stored(real)).toEqual({
      active: "a",
      theme: "dark",
      hosts: { a: { url: "http://a.example/v1", note: "x" } },
    });
    expect(statSync(home.config).isFile()).toBe(true);
  });

  test("loses nothing in concurrent writes", async () => {
    const home = makeHome();
    await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        svcProcess(["hosts", "add", `h${n}`, "--url", `https://h${n}.example`], { home }),
      ),
    );
    expect(Object.keys(stored(home.config).hosts)).toHaveLength(12);
  });

  test("serializes writers in one process, and removes a stale lock", async () => {
    for (let round = share(2, 200); round > 0; round--) {
      const { config } = makeHome();
      const past = new Date(Date.now() - 60_000);
      write(`${config}.lock`, "1 gone");
      utimesSync(`${config}.lock`, past, past);
      await Promise.all(
        Array.from({ length: 25 }, (_, n) =>
          updateConfig(config, (c) => ({ ...c, hosts: { ...c.hosts, [`h${n}`]: { url: "http://x/v1" } } })),
        ),
      );
      expect(Object.keys((await readConfig(config)).hosts)).toHaveLength(25);
      expect(readdirSync(dirname(config))).toEqual(["config.json"]);
    }
  });

  test("has its path from the environment", () => {
    const at = (env: Record<string, string>) => configPath({ env: { HOME: "/h", ...env }, cwd: "/w" });
    expect(at({})).toBe("/h/.config/svc/config.json");
    expect(at({ XDG_CONFIG_HOME: "/x" })).toBe("/x/svc/config.json");
    expect(at({ XDG_CONFIG_HOME: "rel" })).toBe("/h/.config/svc/config.json");
    expect(at({ XDG_CONFIG_HOME: "/x", SVC_CONFIG_FILE: "c.json" })).toBe("/w/c.json");
  });

  test("that others can read causes a warning", async () => {
    const home = makeHome();
    write(home.config, { active: "one", hosts: { one: { url: api.url, token: TOKEN } } });
    chmodSync(home.config, 0o640);
    const ran = await svc(["projects", "ls"], { home });
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining(`chmod 600 ${home.config}`) });
    expect(await svc(["projects", "ls", "--json"], { home })).toMatchObject({ stderr: "" });
  });

  test("that cannot be written is an error before the token is sent", async () => {
    const home = makeHome();
    write(join(home.home, ".config"), "a file");
    const ran = await svc(["login", "--api", api.url, "--token", TOKEN], { home });
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(api.seen).toHaveLength(0);
  });
});

describe("hosts", () => {
  test.each([
    ["https://svc.example.com", "https://svc.example.com/v1"],
    ["https://svc.example.com/", "https://svc.example.com/v1"],
    ["https://svc.example.com/v1", "https://svc.example.com/v1"],
    ["https://svc.example.com/v1///", "https://svc.example.com/v1"],
    ["HTTP://Svc.Example.com:80/sub/v1/", "http://svc.example.com/sub/v1"],
    ["localhost:8008", null],
    ["file:///etc", null],
    ["https://a@svc.example.com", null],
    ["https://svc.example.com?x", null],
    ["https://svc.example.com/#x", null],
    ["https://", null],
  ])("%s is %p", (input, url) => {
    expect(normalizeUrl(input)).toBe(url);
  });

  test("add, use, info, rm", async () => {
    const home = makeHome();
    const run = (...line: string[]) => svc(line, { home });
    expect((await run("hosts", "add", "team", "--url", api.url)).stdout).toBe(`Added team (${api.url}).\n`);
    expect((await run("hosts", "add", "team", "--url", "https://x.example")).code).toBe(1);
    expect((await run("hosts", "use", "team")).stderr).toContain("Next: svc login");
    expect((await run("hosts", "current")).stdout).toBe("team\n");
    const info = JSON.parse((await run("hosts", "info", "--json")).stdout);
    expect(info).toMatchObject({
      name: "team",
      active: true,
      signed_in: false,
      reachable: true,
      version: "0.1.0",
    });
    // not one of the built-in hosts: this machine may run a server
    const other = makeHome();
    await svc(["hosts", "add", "gone", "--url", `http://127.0.0.1:${await freePort()}`], { home: other });
    const dead = await svc(["hosts", "info", "gone", "--json=reachable"], { home: other });
    expect(dead).toMatchObject({ code: 0, stdout: '{"reachable":false}\n' });
    expect(await run("hosts", "rm", "team")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--yes"),
    });
    const gone = await run("hosts", "rm", "team", "--yes", "--json");
    expect(JSON.parse(gone.stdout)).toEqual({ name: "team", removed: true, active: "local-dev" });
  });

  test("an address without TLS causes a warning", async () => {
    const ran = await svc(["hosts", "add", "team", "--url", "http://svc.example.com"]);
    expect(ran.stderr).toContain("warning: http://svc.example.com/v1 is not encrypted");
  });
});

describe("login and logout", () => {
  test("a token that the server refuses is not stored", async () => {
    const home = makeHome();
    const ran = await svc(["login", "--api", api.url, "--token", `${TOKEN}x`], { home });
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(existsSync(home.config)).toBe(false);
  });

  test("login accepts a project token, and reports that it is one", async () => {
    api.on("GET /auth/whoami", () => PROJECT_IDENTITY);
    const ran = await svc(["login", "--api", api.url, "--token", TOKEN]);
    expect(ran.stdout).toContain("for the project Shop only");
  });

  test("login to a server without browser sign-in explains how to get a token", async () => {
    const ran = await svc(["login", "--api", api.url]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("supports only sign-in with a token");
    expect(ran.stderr).toContain("svc-api admin token --email");
  });

  test("login does not switch the active host; logout removes only the token", async () => {
    const home = makeHome();
    await svc(["login", "--host", "one", "--api", api.url, "--token", TOKEN], { home });
    const second = await svc(["login", "--host", "two", "--api", other.url, "--token", TOKEN], { home });
    expect(second.stderr).toContain("The active host is still one. Next: svc hosts use two");
    other.on("POST /auth/revoke", () => ({ ok: true }));
    expect((await svc(["logout", "--host", "two", "--json"], { home })).stdout).toBe(
      '{"host":"two","signed_out":true,"revoked":true}\n',
    );
    expect(other.seen.at(-1)).toMatchObject({ path: "/auth/revoke" });
    expect(stored(home.config).hosts.two).toEqual({ url: other.url });
    expect((await svc(["logout", "--host", "two"], { home })).stdout).toContain("were not signed in");
  });
});

test.each([
  ["does not answer", () => failure("unavailable", "svc is about to stop.", 503), false],
  ["is older than the route", () => failure("not_found", "There is no such route.", 404), false],
  ["knows the token no more", () => failure("unauthorized", "The token is unknown.", 401), true],
] as const)(
  "logout removes the token if the server %s, and reports whether it is still valid",
  async (_, answer, revoked) => {
    const home = makeHome();
    await svc(["login", "--host", "one", "--api", api.url, "--token", TOKEN], { home });
    api.on("POST /auth/revoke", answer);
    const ran = await svc(["logout", "--host", "one"], { home });
    expect(ran).toMatchObject({ code: 0, stdout: "Signed out of one.\n" });
    expect(ran.stderr.includes("valid there until you revoke it")).toBe(!revoked);
    expect(stored(home.config).hosts.one).toEqual({ url: api.url });
  },
);

describe("a token goes to the host it belongs to", () => {
  async function twoHosts() {
    const home = makeHome();
    write(home.config, {
      active: "one",
      hosts: { one: { url: api.url, token: TOKEN }, two: { url: other.url, token: TOKEN } },
    });
    return home;
  }
  const link = (change: object = {}) => ({
    project_id: PROJECT_ID,
    account_id: ACCOUNT_ID,
    host: "two",
    host_url: other.url,
    ...change,
  });
  const linked = async (change: object | string, line: string[], options: RunOptions = {}) => {
    const home = await twoHosts();
    write(join(home.cwd, ".svc/link.json"), typeof change === "string" ? change : link(change));
    return svc(line, { home, ...options });
  };

  test("a link selects host and project", async () => {
    expect(await linked({}, ["cr", "ls"])).toMatchObject({ code: 0 });
    expect([api.seen.length, other.seen.length]).toEqual([0, 1]);
    expect(other.seen[0]?.path).toBe(`/projects/${PROJECT_ID}/change-requests`);
    expect(await linked({ host_url: other.url.replace(/\/v1$/, "/") }, ["cr", "ls"])).toMatchObject({
      code: 0,
    });
  });

  test.each([
    ["another address under a known name", { host: "one" }, "Nothing was sent"],
    ["a lookalike", { host_url: "https://evil.example/v1" }, "Nothing was sent"],
    [
      "a host that is not registered",
      { host: "evil", host_url: "https://evil.example/v1" },
      "not registered",
    ],
  ])("%s is an error", async (_, change, says) => {
    const ran = await linked(change, ["cr", "ls"]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(says);
    expect([api.seen.length, other.seen.length]).toEqual([0, 0]);
  });

  test.each([
    ["not json", "{"],
    ["no object", "7"],
    ["a path as a project", { project_id: "../../accounts/me" }],
    ["no project", { project_id: undefined }],
    ["an account of another kind", { account_id: 3 }],
    ["a host name that is none", { host: "\u001b[31m" }],
    ["an address that is none", { host_url: "javascript:alert(1)" }],
    ["an address with a password", { host_url: "https://me:pw@x.example" }],
    ["something huge", `"${"x".repeat(100_000)}"`],
  ])("a link that is %s is reported, and not used", async (_, change) => {
    const ran = await linked(change, ["cr", "ls"]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("link.json cannot be used");
    expect([api.seen.length, other.seen.length]).toEqual([0, 0]);
  });

  test("a named pipe in place of the link is ignored and does not hang", async () => {
    const home = await twoHosts();
    mkdirSync(join(home.cwd, ".svc"));
    await Bun.spawn(["mkfifo", join(home.cwd, ".svc/link.json")]).exited;
    expect(await svc(["cr", "ls"], { home })).toMatchObject({ code: 1, signal: null });
  });

  test("--host overrides the link, including its project", async () => {
    const ran = await linked({}, ["cr", "ls", "--host", "one"]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("Pass --project");
    expect(await linked({}, ["cr", "ls", "--host", "one", "--project", "shop"])).toMatchObject({ code: 0 });
    expect(api.seen.map((call) => call.path)).toEqual(["/projects/shop/change-requests"]);
  });

  test("a token from the environment does not follow a link", async () => {
    const env = { SVC_CLI_TOKEN: TOKEN };
    const ran = await linked({}, ["cr", "ls"], { env });
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("--host two");
    expect(await linked({}, ["cr", "ls", "--host", "two"], { env })).toMatchObject({ code: 0 });
  });

  test("a stored token does not follow SVC_API_URL to an unknown address", async () => {
    const home = makeHome();
    write(home.config, { active: "one", hosts: { one: { url: "http://127.0.0.1:9/v1", token: TOKEN } } });
    const ran = await svc(["cr", "ls", "--project", "shop"], { home, env: { SVC_API_URL: api.url } });
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining("not signed in") });
    expect(api.seen).toHaveLength(0);
    const both = await svc(["cr", "ls", "--host", "one"], { home, env: { SVC_API_URL: api.url } });
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("SVC_API_URL") });
  });

  test("SVC_EXECUTOR_TOKEN is used after SVC_CLI_TOKEN, SVC_TOKEN never", async () => {
    const base = { SVC_API_URL: api.url, SVC_PROJECT_ID: "shop" };
    const run = (env: Record<string, string>) => svc(["cr", "ls"], { env: { ...base, ...env } });
    expect(await run({ SVC_EXECUTOR_TOKEN: TOKEN })).toMatchObject({ code: 0 });
    expect(await run({ SVC_CLI_TOKEN: TOKEN, SVC_EXECUTOR_TOKEN: "svc_pat_x" })).toMatchObject({ code: 0 });
    expect(await run({ SVC_TOKEN: TOKEN })).toMatchObject({ code: 1 });
    expect(await run({ SVC_CLI_TOKEN: "a\nb" })).toMatchObject({ code: 1 });
  });

  test.each([301, 302, 307, 308])("a redirect (%d) to another origin is not followed", async (status) => {
    const elsewhere = `${other.url}/projects`;
    api.on("GET /projects", () => new Response(null, { status, headers: { Location: elsewhere } }));
    api.on(
      "POST /projects",
      () => new Response(null, { status, headers: { Location: `${api.url}/projects/x` } }),
    );
    const ran = await svc(["projects", "ls"], { env: api.env });
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining("redirects to") });
    expect(other.seen).toHaveLength(0);
    const post = await svc(["projects", "new", "--repo", "https://x.example/y"], { env: api.env });
    expect(post.code).toBe(1);
    expect(api.seen.map((call) => call.path)).toEqual(["/projects", "/projects"]);
  });

  test("a read follows a redirect within the API", async () => {
    api.on(
      "GET /projects",
      () => new Response(null, { status: 308, headers: { Location: "/v1/projects/shop" } }),
    );
    expect(JSON.parse((await svc(["api", "projects"], { env: api.env })).stdout).slug).toBe("shop");
  });
});

describe("in a sandbox", () => {
  const env = () => ({ ...api.env, SVC_SESSION_ID: "55555555-5555-4555-8555-555555555555" });

  test("uses neither a configuration file nor a link", async () => {
    const home = makeHome();
    write(home.config, "{damaged");
    write(join(home.cwd, ".svc/link.json"), "{damaged");
    expect(await svc(["cr", "ls"], { home, env: env() })).toMatchObject({ code: 0, stderr: "" });
    const login = await svc(["login", "--token", TOKEN], { home, env: env() });
    expect(login).toMatchObject({ code: 1, stderr: expect.stringContaining("through its environment") });
    expect(await svc(["logout"], { home, env: env() })).toMatchObject({ code: 0 });
    expect(readFileSync(home.config, "utf8")).toBe("{damaged");
  });

  test("works without a home directory", async () => {
    const ran = await svc(["cr", "ls"], { env: { ...env(), HOME: "/nonexistent" }, cwd: "/" });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
  });
});

test("explains the response of a server that is not svc", async () => {
  api.on(
    "GET /projects",
    () => new Response("<html>proxy</html>", { headers: { "Content-Type": "text/html" } }),
  );
  expect((await svc(["projects", "ls"], { env: api.env })).stderr).toContain("not JSON");
  api.on("GET /projects", () => ({ items: [] }));
  expect((await svc(["projects", "ls"], { env: api.env })).stderr).toContain("a list without `projects`");
  api.on("GET /projects", () => failure("forbidden", "A project token cannot list projects.", 403));
  expect((await svc(["projects", "ls"], { env: api.env })).stderr).toBe(
    "error: A project token cannot list projects.\ncode: forbidden\n",
  );
});
