import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isGroup } from "../../cli/spec.ts";
import { TABLE } from "../../cli/table.ts";
import { failure, fakeApi, PATCH, TOKEN } from "../helpers/cli-api.ts";
import { CHANNEL_ID } from "../helpers/cli-channels.ts";
import { ASK_ID } from "../helpers/cli-connectors.ts";
import { expectDocumentedFields } from "../helpers/cli-fields.ts";
import { cliEnv, makeHome, SVC, spawnSvc, svc } from "../helpers/cli-run.ts";
import { SESSION_ID } from "../helpers/cli-sessions.ts";
import { DELIVERY_ID, WEBHOOK_ID } from "../helpers/cli-webhooks.ts";
import { git } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

/** A line for every command that prints data; `null`: it needs none beside its name. */
const DATA_LINES: Record<string, string[]> = {
  "cr show": ["3"],
  "cr diff": ["3"],
  "cr files": ["3"],
  "cr heads": ["3"],
  "cr timeline": ["3"],
  "cr apply": ["3", "55555555-5555-4555-8555-000000000001"],
  "cr reply": ["3", "55555555-5555-4555-8555-000000000001", "Done."],
  "cr resolve": ["3", "55555555-5555-4555-8555-000000000001"],
  "cr open": ["--title", "T", "--head", "x"],
  "cr merge": ["3", "--delete-branch"],
  "cr dequeue": ["3"],
  "cr close": ["3"],
  "cr reopen": ["3"],
  "cr ready": ["3"],
  "cr revert": ["3"],
  "cr edit": ["3", "--title", "T"],
  "cr comment": ["3", "Say it shorter."],
  "cr comments": ["3"],
  "cr review": ["3", "--approve"],
  "cr approve": ["3"],
  "cr request-changes": ["3", "-b", "Say it shorter."],
  "cr send": ["3"],
  "cr update-branch": ["3"],
  "cr resolve-conflicts": ["3"],
  "cr checks": ["3"],
  "cr apps": ["3"],
  "labels new": ["bug"],
  "labels edit": ["bug", "--name", "defect"],
  "labels rm": ["bug"],
  "checks ls": ["a".repeat(40)],
  "checks report": ["test", "success", "--sha", "a".repeat(40)],
  "projects info": ["shop"],
  "projects new": ["--repo", "https://git.example.com/new.git"],
  "projects link": ["shop"],
  "projects edit": ["shop", "--budget", "50"],
  "projects unprotect": ["master"],
  "projects rm": ["shop", "--yes"],
  "hosts use": ["cloud"],
  "alias set": ["mine", "cr status"],
  "alias rm": ["stored"],
  "hosts add": ["team", "--url", "https://svc.example.com"],
  "hosts rm": ["stored", "--yes"],
  login: ["--token", TOKEN],
  "repo cat": ["a.txt"],
  "secrets set": ["KEY=value"],
  "secrets unset": ["KEY"],
  "env push": ["--from", "-"],
  "triggers info": ["nightly"],
  "triggers fire": ["nightly"],
  "triggers enable": ["nightly"],
  "triggers disable": ["nightly"],
  search: ["login"],
  ship: ["--dry-run"],
  validate: ["-"],
  "<project-name>": ["--dry-run"],
  "sessions info": [SESSION_ID],
  "sessions restart": [SESSION_ID],
  "sessions saved": [SESSION_ID],
  "sessions commands": [SESSION_ID],
  "sessions ports": [SESSION_ID],
  "sessions files": [SESSION_ID],
  "sessions diff": [SESSION_ID],
  "sessions stop": [SESSION_ID, "--no-wait"],
  "sessions rm": [SESSION_ID, "--yes"],
  "sessions rename": [SESSION_ID, "Login"],
  "sessions edit": [SESSION_ID, "--mode", "ask"],
  "sessions choices": [SESSION_ID],
  "sessions open": [SESSION_ID],
  "sessions preview": [SESSION_ID],
  "sessions logs": [SESSION_ID],
  "sessions prompt": [SESSION_ID, "Go on"],
  "sessions prompts": [SESSION_ID],
  "sessions tries": [SESSION_ID],
  "sessions abort": [SESSION_ID],
  "sessions conversation": [SESSION_ID],
  "network ls": [SESSION_ID],
  "network allow": ["api.example.com"],
  "notifications set": ["session.done", "page"],
  "signing-keys add": ["-"],
  "signing-keys rm": ["3"],
  "tokens new": ["ci"],
  "tokens revoke": ["7f3a"],
  "sign-ins end": ["8f3a"],
  "accounts edit": ["--budget", "200"],
  "members invite": ["ada@example.com"],
  "members role": ["ada@example.com", "admin"],
  "members rm": ["ada@example.com", "--yes"],
  "members withdraw": ["6b1b"],
  "webhooks add": ["https://example.com/svc"],
  "webhooks edit": [WEBHOOK_ID, "--rotate-secret"],
  "webhooks rm": [WEBHOOK_ID],
  "webhooks test": [WEBHOOK_ID],
  "webhooks deliveries": [WEBHOOK_ID],
  "webhooks redeliver": [WEBHOOK_ID, DELIVERY_ID],
  "channels connect": ["slack"],
  "channels disconnect": [CHANNEL_ID],
  "channels test": [CHANNEL_ID],
  "connectors test": ["github"],
  "connectors connect": ["github", "--no-wait"],
  "connectors disconnect": ["github"],
  "models add": ["openai", "--url", "https://models.example.com/v1"],
  "models rm": ["openai"],
  "connectors approve": [ASK_ID],
  "connectors deny": [ASK_ID],
  "apps info": ["web"],
  "apps deploy": ["web"],
  "apps rollback": ["web"],
  "apps history": ["web"],
  "apps diff": ["web", "1"],
  "apps stop": ["web"],
  "apps logs": ["web"],
  "apps volume rm": ["web", "--yes"],
  "apps domains ls": ["web"],
  "apps domains add": ["web", "www.example.com"],
  "apps domains verify": ["web", "www.example.com"],
  "apps domains rm": ["web", "www.example.com"],
  "apps open": ["web"],
};

const INPUT: Record<string, string> = {
  "env push": "KEY=value",
  validate: "svc_version = 1\n",
  "models add": "sk-0123456789\n",
  "channels connect": `xoxb-0123456789\n${"0".repeat(32)}\n`,
};

/** Prints an event a line instead, or needs an installation, a server, a clone, a stored token or an agent that waits: their own tests check them. */
const APART =
  /^(accounts switch|sessions chat|sessions answer|cr checkout|projects clone|update|uninstall|demo|self-host .*)$/;

/** A repository with a commit and an origin, itself. */
function beginRepository(folder: string): void {
  git(["-C", folder, "init", "--quiet", "-b", "main"]);
  git(["-C", folder, "commit", "--quiet", "--allow-empty", "-m", "x"]);
  git(["-C", folder, "remote", "add", "origin", folder]);
}

const WITH_DATA = TABLE.flatMap((node) => (isGroup(node) ? node.commands : [node]))
  .map((command) => command.spec)
  .filter((spec) => spec.fields && !APART.test(spec.path.join(" ")));

for (const spec of WITH_DATA) {
  const name = spec.path.join(" ");
  const line = [...(spec.anyName ? ["my-shop"] : spec.path), ...(DATA_LINES[name] ?? [])];

  test.concurrent(`${name} --json prints exactly one JSON value with all its documented fields`, async () => {
    const home = makeHome();
    mkdirSync(join(home.home, ".config/svc"), { recursive: true });
    writeFileSync(
      home.config,
      JSON.stringify({ hosts: { stored: { url: "https://stored.example" } }, aliases: { stored: "cr ls" } }),
    );
    mkdirSync(join(home.cwd, ".svc"));
    if (name === "ship") beginRepository(home.cwd);
    if (name === "projects unlink") writeFileSync(join(home.cwd, ".svc/link.json"), "{}");
    const env = { ...api.env, FORCE_COLOR: "1", HTTPS_PROXY: "http://127.0.0.1:9" };
    const ran = await svc([...line, "--json"], {
      home,
      env,
      stdin: INPUT[name] ?? "secret",
    });
    expect({ name, code: ran.code, stderr: ran.stderr }).toEqual({ name, code: 0, stderr: "" });
    expect(ran.stdout.endsWith("\n")).toBe(true);
    expect(ran.stdout.trimEnd()).not.toContain("\n");
    expectDocumentedFields(spec.path, ran.stdout);
  });

  test.concurrent(`${name} --json fails as one JSON object on stderr`, async () => {
    const env = { SVC_API_URL: "http://127.0.0.1:9/v1", SVC_CLI_TOKEN: "svc_pat_x", SVC_PROJECT_ID: "shop" };
    const home = makeHome();
    mkdirSync(join(home.home, ".config/svc"), { recursive: true });
    writeFileSync(home.config, "{");
    const ran = await svc([...line, "--json", "--no-such-flag"], { home, env });
    expect({ name, code: ran.code, stdout: ran.stdout }).toEqual({ name, code: 2, stdout: "" });
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: "usage" } });
  });
}

test("an error's JSON has code, message, hint and request", async () => {
  api.on("GET /projects", () => failure("rate_limited", "Slow down.", 429, {}, { "Retry-After": "60" }));
  const ran = await svc(["projects", "ls", "--json"], { env: api.env });
  expect(ran).toMatchObject({ code: 1, stdout: "" });
  expect(JSON.parse(ran.stderr)).toEqual({
    error: {
      code: "rate_limited",
      message: "Slow down.",
      hint: "Try again in 60 seconds.",
      request_id: "req-1",
    },
  });
  const network = await svc(["projects", "ls", "--jq", "."], {
    env: { SVC_API_URL: "http://127.0.0.1:9", SVC_CLI_TOKEN: TOKEN },
  });
  expect(JSON.parse(network.stderr)).toMatchObject({ error: { code: "network" } });
});

test("an invalid jq expression is an error before anything is sent", async () => {
  const ran = await svc(["cr", "merge", "3", "--jq", ".merge["], { env: api.env });
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  expect(api.seen).toHaveLength(0);
  const late = await svc(["cr", "show", "3", "--jq", ".title|keys"], { env: api.env });
  expect(late).toMatchObject({ code: 1, stdout: "" });
  expect(JSON.parse(late.stderr).error.code).toBe("jq");
});

const big = PATCH + "+a line of the patch, long enough to fill pipes\n".repeat(60_000);

async function sh(script: string, line: string[]) {
  const home = makeHome();
  const child = Bun.spawn(["bash", "-c", script, "bash", ...SVC, ...line], {
    env: cliEnv(home.home, api.env),
    cwd: home.cwd,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { out, err, code: await child.exited };
}

test("a slow reader gets the full output", async () => {
  api.on("GET /projects/:p/change-requests/:n/diff", () => new Response(big));
  const ran = await sh('"$@" | (sleep 0.1; md5sum)', ["cr", "diff", "3"]);
  expect(ran.out.slice(0, 32)).toBe(new Bun.CryptoHasher("md5").update(big).digest("hex"));
  const json = await sh('"$@" | (sleep 0.1; wc -c)', ["api", "projects/shop/change-requests/3/diff"]);
  expect(Number(json.out)).toBe(Buffer.byteLength(big));
});

test("a closed pipe is not an error, and ends the download", async () => {
  let cancelled = false;
  api.on("GET /projects/:p/change-requests/:n/diff", () => {
    const endless = new ReadableStream({
      async pull(controller) {
        await Bun.sleep(1);
        controller.enqueue(new TextEncoder().encode(big.slice(0, 65_536)));
      },
      cancel() {
        cancelled = true;
      },
    });
    return new Response(endless);
  });
  const ran = await sh('"$@" | head -1; echo "${PIPESTATUS[0]}"', ["cr", "diff", "3"]);
  expect(ran).toEqual({ out: "diff --git a/login.ts b/login.ts\n0\n", err: "", code: 0 });
  await until("the download has ended", () => cancelled);
  const help = await sh('"$@" | head -1; echo "${PIPESTATUS[0]}"', ["--help"]);
  expect(help).toMatchObject({ err: "", code: 0 });
});

test("a full disk is an error", async () => {
  const ran = await sh('"$@" > /dev/full', ["cr", "ls"]);
  expect(ran.code).toBe(1);
  expect(ran.err).toContain("ENOSPC");
  expect(ran.err).not.toContain("    at ");
});

test("an empty output does not truncate the output file", async () => {
  api.on("GET /projects", () => ({ projects: [] }));
  const ran = await sh('{ echo before; "$@"; echo after; } > out; echo more >> out; cat out', [
    "projects",
    "ls",
  ]);
  expect(ran).toMatchObject({ code: 0, out: "before\nafter\nmore\n" });
});

test("reports a deleted working directory", async () => {
  const ran = await sh('mkdir gone && cd gone && rmdir ../gone && "$@"', ["projects", "unlink"]);
  expect(ran).toMatchObject({ code: 1, out: "" });
  // The runtime of the binary may say it first, in its own words.
  expect(ran.err).toMatch(/^error: .*directory/);
});

test("SIGTERM and SIGINT end by the signal", async () => {
  api.on("GET /projects", () => new Promise(() => {}));
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    api.seen.length = 0;
    const child = spawnSvc(["projects", "ls"], { env: api.env });
    await until("it waits for the answer", () => api.seen.length > 0);
    child.kill(signal);
    await child.exited;
    expect(child.signalCode).toBe(signal);
    expect(await new Response(child.stderr).text()).toBe("");
  }
});
