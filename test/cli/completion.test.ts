import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { changeRequest, fakeApi, project, TOKEN } from "../helpers/cli-api.ts";
import { cliEnv, makeHome, SVC, svc } from "../helpers/cli-run.ts";
import { SESSION_ID } from "../helpers/cli-sessions.ts";
import { needs } from "../helpers/needs.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

async function complete(words: string[], env: Record<string, string> = {}) {
  const ran = await svc(["__complete", "--", ...words], { env });
  expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: "" });
  return ran.stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split("\t")[0]);
}

test.each([
  [["c"], ["cr", "checks", "channels", "connectors", "completion"]],
  [["ver"], ["version"]],
  [["cr", "reo"], ["reopen"]],
  [["cr", "ls", "--st"], ["--status"]],
  [
    ["cr", "ls", "--status", ""],
    ["open", "merged", "closed", "all"],
  ],
  [["cr", "ls", "--status", "m"], ["merged"]],
  [["cr", "ls", "--status=m"], ["--status=merged"]],
  [["cr", "ls", "--status", "=", "m"], ["merged"]],
  [
    ["cr", "ls", "--status", "="],
    ["open", "merged", "closed", "all"],
  ],
  [["cr", "ls", "--json=numb"], ["--json=number"]],
  [["cr", "ls", "--json=number,tit"], ["--json=number,title"]],
  [["cr", "ls", "--json", "=", "number,tit"], ["number,title"]],
  [["cr", "ls", "--status", "open", "--status"], []],
  [["--host", "loc"], ["local-dev"]],
  [["hosts", "use", "svc-"], ["svc-internal-dev"]],
  [["cr", "open", "--description-file", ""], [":files"]],
  [["completion", "z"], ["zsh"]],
  [["sessions", "lo"], ["logs"]],
  [
    ["sessions", "new", "--provider", ""],
    ["docker", "local", "kubernetes"],
  ],
  [["help", "envi"], ["environment"]],
  [["help", "cr", "m"], ["merge"]],
  [
    ["help", "self-host", "env", ""],
    ["ls", "set"],
  ],
  [["self-host", "e"], ["env"]],
  [["self-host", "env", "s"], ["set"]],
  [["self-host", "sup"], []],
  [["nonsense", ""], []],
  [["cr", "nonsense", ""], []],
  [["cr", "ls", "extra", ""], []],
  [[""], expect.arrayContaining(["cr", "projects", "hosts", "login", "help"])],
  [[], expect.arrayContaining(["cr", "login"])],
])("%p offers %p", async (words, offered) => {
  expect(await complete(words)).toEqual(offered);
});

test("offers the server's values, if they need no quotes in a shell", async () => {
  api.on("GET /projects/:p/change-requests", () => ({
    change_requests: [changeRequest({ title: "a\tb\n$(touch x)\x1b[2J" }), changeRequest({ number: 31 })],
  }));
  api.on("GET /projects", () => ({ projects: [project(), project({ slug: "$(touch pwned)" })] }));
  expect(await complete(["cr", "show", "3"], api.env)).toEqual(["3", "31"]);
  expect(await complete(["cr", "ls", "--project", ""], api.env)).toEqual(["shop"]);
  const { stdout } = await svc(["__complete", "--", "cr", "show", ""], { env: api.env });
  expect(stdout).toContain("3\ta\\tb\\n$(touch x)\\x1b[2J\n");
});

test("offers session ids, described by name and status", async () => {
  const { stdout } = await svc(["__complete", "--", "sessions", "stop", "1a"], { env: api.env });
  expect(stdout).toBe(`${SESSION_ID}\tLogin page (running)\n`);
  expect(await complete(["cr", "open", "--session", ""], api.env)).toEqual([SESSION_ID]);
  expect(await complete(["sessions", "new", "--base", "m"], api.env)).toEqual(["main"]);
});

test("offers agent names, except subagents", async () => {
  const agent = (name: string, mode: string) => ({
    name,
    mode,
    description: `${name}\u202e`,
    source: "project",
  });
  api.on("GET /projects/:p/agents", () => ({
    agents: [agent("developer", "primary"), agent("docs/writer", "all"), agent("finder", "subagent")],
  }));
  const { stdout } = await svc(["__complete", "--", "sessions", "new", "--agent", "d"], { env: api.env });
  expect(stdout).toBe("developer\tdeveloper\\u202e\ndocs/writer\tdocs/writer\\u202e\n");
});

test("prints nothing if the server is slow, unreachable or returns an error", async () => {
  expect(await complete(["cr", "show", ""], { ...api.env, SVC_API_URL: "http://127.0.0.1:9" })).toEqual([]);
  expect(await complete(["cr", "show", ""])).toEqual([]);
  expect(await complete(["cr", "show", ""], { ...api.env, SVC_CLI_TOKEN: "svc_pat_x" })).toEqual([]);
  api.on("GET /projects", () => new Promise(() => {}));
  expect(await complete(["projects", "info", ""], api.env)).toEqual([]);
});

/** A home in which `svc` is on the PATH and signed in. */
function shellHome() {
  const home = makeHome();
  const bin = join(home.home, "bin");
  mkdirSync(bin);
  if (SVC.length === 1) symlinkSync(SVC[0] ?? "", join(bin, "svc"));
  else writeFileSync(join(bin, "svc"), `#!/bin/sh\nexec ${SVC.join(" ")} "$@"\n`, { mode: 0o755 });
  mkdirSync(dirname(home.config), { recursive: true });
  writeFileSync(
    home.config,
    JSON.stringify({ active: "team", hosts: { team: { url: api.url, token: TOKEN } } }),
  );
  return {
    ...home,
    env: { ...cliEnv(home.home), PATH: `${bin}:${process.env["PATH"]}`, SVC_PROJECT_ID: "shop" },
  };
}

async function inShell(shell: string[], script: string) {
  const home = shellHome();
  const child = Bun.spawn([...shell, script], {
    env: home.env,
    cwd: home.cwd,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect({ err, code: await child.exited }).toEqual({ err: "", code: 0 });
  return out;
}

describe("the scripts", () => {
  test("bash completes commands, values after = and numbers of change requests", async () => {
    const ask = (words: string) =>
      inShell(
        ["bash", "--norc", "-c"],
        `eval "$(svc completion bash)"; complete -p svc; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); _svc; printf '%s\\n' "\${COMPREPLY[@]}"`,
      );
    expect(await ask("svc cr reo")).toBe("complete -F _svc svc\nreopen\n");
    expect(await ask("svc cr ls --status = me")).toEndWith("\nmerged\n");
    expect(await ask("svc cr show ''")).toEndWith("\n3\n");
  });

  needs("zsh", Bun.which("zsh") !== null)("zsh loads the script", async () => {
    const out = await inShell(
      ["zsh", "-f", "-c"],
      'autoload -U compinit; compinit -u; eval "$(svc completion zsh)"; print $_comps[svc]',
    );
    expect(out).toBe("_svc\n");
  });

  needs("fish", Bun.which("fish") !== null)("fish completes with the script", async () => {
    const out = await inShell(
      ["fish", "--no-config", "-c"],
      'svc completion fish | source; complete -C "svc cr reo"',
    );
    expect(out).toStartWith("reopen");
  });

  // No package source of the tests carries PowerShell: what runs in it is checked by its words alone.
  test("PowerShell calls the same hidden command", async () => {
    const { stdout: out } = await svc(["completion", "powershell"]);
    expect(out).toContain("Register-ArgumentCompleter -Native -CommandName svc");
    expect(out).toContain(`& svc __complete '--' @words "$word" 2>$null`);
  });
});
