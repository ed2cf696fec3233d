import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "../../cli/run.ts";
import { shellWord } from "../../cli/text.ts";
import { cliEnv, fakeSystem, gitAtHome, makeHome, SVC, svc, textOf } from "../helpers/cli-run.ts";
import { backend, serveGit } from "../helpers/git-http.ts";
import { Remote } from "../helpers/remote.ts";

const TEAM = "svc_pat_team";
const OTHER = "svc_pat_other";
const ENV = "svc_pat_env";

/** A home that knows three hosts; it is signed in to two of them. */
function homeWith(hosts: Record<string, object> = {}) {
  const home = makeHome();
  mkdirSync(dirname(home.config), { recursive: true });
  const all = {
    team: { url: "https://svc.example.com", token: TEAM },
    other: { url: "http://127.0.0.1:8008/svc", token: OTHER },
    blank: { url: "https://blank.example.com" },
    ...hosts,
  };
  writeFileSync(home.config, JSON.stringify({ active: "team", hosts: all }), { mode: 0o600 });
  return home;
}

async function ask(operation: string, request: string, env: Record<string, string> = {}) {
  const home = homeWith();
  const system = fakeSystem({ env: { HOME: home.home, ...env }, cwd: home.cwd, stdin: request });
  const code = await run(system, ["git-credential", operation]);
  return { code, out: system.out(), err: system.err() };
}

const request = (protocol: string, host: string, path?: string) =>
  `protocol=${protocol}\nhost=${host}\n${path === undefined ? "" : `path=${path}\n`}\n`;
const answer = (token: string) => `username=x-access-token\npassword=${token}\n`;
const P = "v1/git/11111111-1111-4111-8111-111111111111.git";

describe("get prints the token of the gateway, or nothing", () => {
  test.each<[string, string, string | null]>([
    ["the gateway of a host", request("https", "svc.example.com", P), TEAM],
    ["no path, as git sends without useHttpPath", request("https", "svc.example.com"), TEAM],
    ["below a path, on a port", request("http", "127.0.0.1:8008", `svc/${P}`), OTHER],
    ["below a repository (LFS)", request("https", "svc.example.com", `${P}/info/lfs`), TEAM],
    ["without the blank line at the end", `protocol=https\nhost=svc.example.com\npath=${P}`, TEAM],
    [
      "keys of newer gits",
      `capability[]=authtype\nwwwauth[]=Basic\n${request("https", "svc.example.com", P)}`,
      TEAM,
    ],
    ["ignores input after the blank line", `${request("https", "svc.example.com", P)}host=x\n`, TEAM],
    ["another protocol", request("http", "svc.example.com", P), null],
    ["another host", request("https", "example.com", P), null],
    ["a host that ends alike", request("https", "evil-svc.example.com", P), null],
    ["a host below", request("https", "svc.example.com.evil.example", P), null],
    ["another port", request("https", "svc.example.com:8443", P), null],
    ["a user in the host", request("https", "svc.example.com@evil.example", P), null],
    ["another path", request("https", "svc.example.com", "v1/projects"), null],
    ["a path that begins alike", request("https", "svc.example.com", "v1/github/x.git"), null],
    ["the gateway's path elsewhere", request("https", "svc.example.com", `x/${P}`), null],
    ["the host's path missing", request("http", "127.0.0.1:8008", P), null],
    ["a step up", request("https", "svc.example.com", "v1/git/../../x"), null],
    ["a step up with the other slash", request("https", "svc.example.com", "v1/git/..\\..\\x"), null],
    ["a carriage return", request("https", "svc.example.com\r", P), null],
    ["a NUL", request("https", "svc.example.com", `${P}\0`), null],
    ["no protocol", `host=svc.example.com\npath=${P}\n\n`, null],
    ["no host", "protocol=https\n\n", null],
    ["nothing", "", null],
    ["a blank line first", `\n${request("https", "svc.example.com", P)}`, null],
    ["no request at all", "hello\n=\n\n", null],
    ["ssh", request("ssh", "svc.example.com", P), null],
  ])("%s", async (_, text, token) => {
    expect(await ask("get", text)).toEqual({ code: 0, out: token === null ? "" : answer(token), err: "" });
  });

  test("a host without a token prints one line with the next step", async () => {
    const { out, err } = await ask("get", request("https", "blank.example.com", P));
    expect([out, err]).toEqual([
      "",
      "You are not signed in to blank: sign in with `svc login --host blank`.\n",
    ]);
  });
});

describe("a token from the environment is used only for its host", () => {
  const API = { SVC_API_URL: "https://api.example.org/v1", SVC_EXECUTOR_TOKEN: ENV };
  const SANDBOX = { ...API, SVC_SESSION_ID: "s" };
  test.each<[string, Record<string, string>, string, string | null]>([
    ["SVC_API_URL", API, "api.example.org", ENV],
    ["SVC_API_URL in a sandbox", SANDBOX, "api.example.org", ENV],
    ["in a sandbox no other, though one is stored", SANDBOX, "svc.example.com", null],
    ["elsewhere a stored host keeps its own", API, "svc.example.com", TEAM],
    ["without SVC_API_URL, the active host", { SVC_CLI_TOKEN: ENV }, "svc.example.com", ENV],
    ["without SVC_API_URL, no other host", { SVC_CLI_TOKEN: ENV }, "blank.example.com", null],
    ["SVC_API_URL alone gives nothing", { SVC_API_URL: "https://api.example.org" }, "api.example.org", null],
    [
      "the service key is never one",
      { SVC_TOKEN: "svc_sb_x", SVC_API_URL: "https://api.example.org" },
      "api.example.org",
      null,
    ],
  ])("%s", async (_, env, host, token) => {
    const { code, out } = await ask("get", request("https", host, P), env);
    expect([code, out]).toEqual([0, token === null ? "" : answer(token)]);
  });

  test("with an invalid SVC_API_URL the token is not used", async () => {
    const env = { SVC_API_URL: "example.org", SVC_CLI_TOKEN: ENV };
    expect(await ask("get", request("https", "svc.example.com", P), env)).toMatchObject({ code: 2, out: "" });
  });
});

test("store and unknown operations do nothing; erase prints one line, for known hosts only", async () => {
  const known = `${request("https", "svc.example.com", P).trimEnd()}\nusername=x\npassword=${TEAM}\n\n`;
  for (const operation of ["store", "capability", "no-such-thing"]) {
    expect(await ask(operation, known)).toEqual({ code: 0, out: "", err: "" });
  }
  expect(await ask("erase", known)).toEqual({
    code: 0,
    out: "",
    err: "The token for team was refused: sign in with `svc login --host team`.\n",
  });
  expect(await ask("erase", request("https", "example.com", P))).toEqual({ code: 0, out: "", err: "" });
});

test("answers after the blank line, before the pipe is closed", async () => {
  const home = homeWith();
  const child = Bun.spawn([...SVC, "git-credential", "get"], {
    env: cliEnv(home.home),
    cwd: home.cwd,
    stdin: "pipe",
    stdout: "pipe",
  });
  child.stdin.write(request("https", "svc.example.com", P));
  child.stdin.flush();
  expect(await textOf(child.stdout)).toBe(answer(TEAM));
  expect(await child.exited).toBe(0);
  child.stdin.end();
});

test("reports a damaged configuration on stderr, and prints nothing for git", async () => {
  const home = makeHome();
  mkdirSync(dirname(home.config), { recursive: true });
  writeFileSync(home.config, "{");
  const ran = await svc(["git-credential", "get"], { home, stdin: request("https", "svc.example.com", P) });
  expect(ran).toMatchObject({ code: 1, stdout: "" });
  expect(ran.stderr).toContain(home.config);
});

describe("called by git", () => {
  /** A server that wants the token, the helper set up as in the help, and git with it. */
  function setUp(accepted: string) {
    const remote = new Remote();
    remote.commit("main", { a: "1\n" });
    const server = serveGit(dirname(remote.path), async (asked) => {
      const basic = `Basic ${Buffer.from(`x-access-token:${accepted}`).toString("base64")}`;
      if (asked.headers.get("authorization") !== basic) {
        return new Response("", { status: 401, headers: { "WWW-Authenticate": 'Basic realm="svc"' } });
      }
      return backend(dirname(remote.path), new Request(asked.url.replace("/v1/git", ""), asked));
    });
    const home = homeWith({ here: { url: `${server.origin}/v1`, token: "svc_pat_here" } });
    const url = `${server.origin}/v1/git`;
    writeFileSync(
      join(home.home, ".gitconfig"),
      `[credential "${url}"]\nuseHttpPath = true\nhelper = ${JSON.stringify(`!${SVC.map(shellWord).join(" ")} git-credential`)}\n`,
    );
    const git = (...args: string[]) => gitAtHome(home, args);
    return { server, git, url: `${url}/repo.git` };
  }

  test("authenticates a clone", async () => {
    const { server, git, url } = setUp("svc_pat_here");
    using _ = server;
    expect(await git("clone", "-q", url, "clone")).toEqual({ code: 0, out: "", err: "" });
  });

  test("reports a rejected token once, and never shows it", async () => {
    const { server, git, url } = setUp("svc_pat_another");
    using _ = server;
    const { code, err } = await git("ls-remote", url);
    expect(code).not.toBe(0);
    expect(err.split("svc login --host here")).toHaveLength(2);
    expect(err).not.toContain("svc_pat_here");
  });
});
