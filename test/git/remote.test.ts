import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import type { SvcError } from "../../src/contract/errors.ts";
import { openRemote } from "../../src/git/remote/remote.ts";
import { GIT_LIMITS } from "../../src/git/run/limits.ts";
import type { RemoteContext } from "../../src/git/run/options.ts";
import { serveGit } from "../helpers/git-http.ts";
import { createRepository, createTestGit, temporary } from "../helpers/git-repo.ts";
import { allCommandLines, filesWith } from "../helpers/secrets.ts";
import { until } from "../helpers/until.ts";

const TOKEN = "s3cr3t-t0ken-value";
const BASIC = Buffer.from(`x-access-token:${TOKEN}`).toString("base64");

test("a credential is sent as a header to its origin, and is in no command line or file", async () => {
  await using directory = await temporary();
  const upstream = await createRepository(`${directory.path}/up.git`);
  const { main } = await upstream.write([{ name: "main", branch: "main", files: { f: "1" } }]);
  await using engine = await createTestGit({ dataDir: `${directory.path}/data` });
  const commandLines: string[] = [];
  using server = serveGit(directory.path, async (request) => {
    commandLines.push(await allCommandLines());
    return request.headers.get("authorization") === `Basic ${BASIC}`
      ? null
      : new Response("no", { status: 401, headers: { "www-authenticate": "Basic" } });
  });
  const repo = {
    ...engine.repo(`${server.origin}/up.git`),
    credential: { username: "x-access-token", token: TOKEN },
  };
  expect((await engine.git.listBranches(repo, 5000)).tips.get("main")).toBe(main);
  expect(await engine.git.ensureCommits(repo, [main ?? ""])).toBe(true);
  expect(commandLines.join("\n")).toContain(server.origin);
  expect(commandLines.join("\n")).not.toContain(TOKEN);
  expect(commandLines.join("\n")).not.toContain(BASIC);
  expect(await filesWith(`${directory.path}/data`, [TOKEN, BASIC])).toEqual([]);
  const refused = engine.git.listBranches(
    { ...repo, credential: { username: "u", token: "wrong-token" } },
    5000,
  );
  const error = await refused.catch((thrown: SvcError) => thrown);
  expect(error).toMatchObject({ code: "repo_unreachable", message: expect.stringContaining("credential") });
});

test("names the proxy's variable, but not the proxy, if the proxy does not answer", async () => {
  await using directory = await temporary();
  await using engine = await createTestGit({ dataDir: `${directory.path}/data` });
  const before = process.env["https_proxy"];
  process.env["https_proxy"] = "http://user:secret@127.0.0.1:9";
  try {
    const error = await engine.git
      .listBranches(engine.repo("https://code.invalid/up.git"), 5000)
      .catch((thrown: SvcError) => thrown);
    expect(error).toMatchObject({
      code: "repo_unreachable",
      message:
        "The repository at code.invalid could not be read: the proxy that the server's https_proxy names cannot be reached, or it refuses this host.",
    });
  } finally {
    if (before === undefined) delete process.env["https_proxy"];
    else process.env["https_proxy"] = before;
  }
});

test("rejects a redirect with the next step, and does not send it the header", async () => {
  await using directory = await temporary();
  await using engine = await createTestGit({ dataDir: `${directory.path}/data` });
  using elsewhere = serveGit(directory.path);
  using server = serveGit(directory.path, (request) =>
    Response.redirect(
      `${elsewhere.origin}${new URL(request.url).pathname}${new URL(request.url).search}`,
      301,
    ),
  );
  const repo = { ...engine.repo(`${server.origin}/up.git`), credential: { username: "u", token: TOKEN } };
  const error = await engine.git.listBranches(repo, 5000).catch((thrown: SvcError) => thrown);
  expect(error).toMatchObject({ code: "repo_unreachable", message: expect.stringContaining("new address") });
  expect(server.requests.length).toBeGreaterThan(0);
  expect(elsewhere.requests).toEqual([]);
});

test.each([
  [403, "refused access"],
  [404, "no repository"],
  [500, "could not be read"],
])("status %d is unreachable, with a reason", async (status, reason) => {
  await using directory = await temporary();
  await using engine = await createTestGit({ dataDir: `${directory.path}/data` });
  using server = serveGit(directory.path, () => new Response("no", { status }));
  const error = await engine.git
    .listBranches(engine.repo(`${server.origin}/up.git`), 5000)
    .catch((e: SvcError) => e);
  expect(error).toMatchObject({ code: "repo_unreachable", message: expect.stringContaining(reason) });
});

test("a host that hangs times out, and its git ends", async () => {
  await using directory = await temporary();
  await using engine = await createTestGit({
    dataDir: `${directory.path}/data`,
    limits: { listMs: 3_600_000, listStillMs: 500 },
  });
  using server = serveGit(directory.path, () => new Promise<Response>(() => {}));
  const repo = engine.repo(`${server.origin}/up.git`);
  expect(engine.git.listBranches(repo, 200)).rejects.toMatchObject({ code: "repo_unreachable" });
  await engine.git.listBranches(repo, 200).catch(() => {});
  await until("its git has ended", async () => !(await allCommandLines()).includes(server.origin));
});

test("garbage instead of git's protocol is unreachable", async () => {
  await using directory = await temporary();
  await using engine = await createTestGit({ dataDir: `${directory.path}/data` });
  const type = "application/x-git-upload-pack-advertisement";
  using server = serveGit(
    directory.path,
    () => new Response("zzzz\u001b[31mboo", { headers: { "content-type": type } }),
  );
  const error = await engine.git
    .listBranches(engine.repo(`${server.origin}/up.git`), 5000)
    .catch((e: SvcError) => e);
  expect(error).toMatchObject({ code: "repo_unreachable" });
  expect(String(error)).not.toContain("\u001b");
});

test("rejects private addresses, also if a name resolves differently after the check", async () => {
  await using directory = await temporary();
  const answers = [["93.184.216.34"], ["127.0.0.1"]];
  await using engine = await createTestGit({
    dataDir: `${directory.path}/data`,
    allowPrivate: false,
    resolve: async () => answers.shift() ?? [],
  });
  const { url } = await engine.git.checkRemote("https://rebind.example/a");
  const refused = { code: "repo_not_allowed" };
  expect(engine.git.listBranches(engine.repo(url), 5000)).rejects.toMatchObject(refused);
  for (const address of [
    "https://127.0.0.1/a",
    "https://[::1]/a",
    "https://0x7f.1/a",
    "ssh://git@169.254.169.254/a",
    "git@10.0.0.1:a",
    "git://192.168.0.1/a",
  ]) {
    expect(engine.git.checkRemote(address)).rejects.toMatchObject(refused);
  }
});

test("the checked address is the one that is used", async () => {
  await using directory = await temporary();
  const context = contextIn(directory.path);
  await using https = await openRemote(context, repo("https://example.com:8443/a"));
  expect(settings(https.environment)).toContainEqual([
    "http.curloptResolve",
    "example.com:8443:93.184.216.34,[2606:4700::1]",
  ]);
  expect(https.url).toBe("https://example.com:8443/a");
  await using daemon = await openRemote(context, repo("git://example.com/a"));
  expect(daemon.url).toBe("git://93.184.216.34/a");
});

test("ssh gets the checked address and only the stored key, which is deleted afterwards", async () => {
  await using directory = await temporary();
  const context = contextIn(directory.path);
  const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----";
  {
    await using remote = await openRemote(context, {
      ...repo("ssh://git@example.com:2222/a"),
      credential: { username: "git", token: key },
    });
    const [, file = ""] = /^ssh -F '(.*)'$/.exec(remote.environment["GIT_SSH_COMMAND"] ?? "") ?? [];
    const config = await Bun.file(file).text();
    expect(config).toContain("HostName 93.184.216.34\n");
    expect(config).toContain("HostKeyAlias [example.com]:2222\n");
    expect(config).toContain("IdentitiesOnly yes\n");
    expect(config).not.toContain("Include");
    expect(remote.environment["SSH_AUTH_SOCK"]).toBeUndefined();
    expect(await Bun.file(`${file}.key`).text()).toBe(`${key}\n`);
    const modes = await Promise.all(
      [file, `${file}.key`].map(async (path) => ((await Bun.file(path).stat()).mode & 0o777).toString(8)),
    );
    expect(modes).toEqual(["600", "600"]);
    // ssh itself understands every line
    if (Bun.which("ssh")) {
      const parsed = Bun.spawnSync(["ssh", "-T", "-F", file, "-G", "example.com"]);
      expect(parsed.stderr.toString()).toBe("");
      expect(parsed.stdout.toString()).toContain("hostname 93.184.216.34\n");
    }
  }
  expect(await readdir(directory.path)).toEqual([]);
});

test("error messages for callers are sanitized", async () => {
  await using directory = await temporary();
  await using engine = await createTestGit({ dataDir: `${directory.path}/data` });
  const error = await engine.git
    .listBranches(engine.repo(`file://${directory.path}/none`), 5000)
    .catch((e: SvcError) => e);
  expect(error).toMatchObject({ code: "repo_unreachable" });
  expect(String(error)).not.toContain(`${directory.path}/data`);
});

function contextIn(temporaryDirectory: string): RemoteContext {
  return {
    allowPrivate: false,
    sshKeys: "project",
    resolve: async () => ["2606:4700::1", "93.184.216.34"],
    limits: GIT_LIMITS,
    home: temporaryDirectory,
    temporary: temporaryDirectory,
    knownHosts: `${temporaryDirectory}/known_hosts`,
  };
}

function repo(url: string) {
  return { id: crypto.randomUUID(), url, credential: null };
}

function settings(environment: Record<string, string>): [string, string][] {
  return Array.from({ length: Number(environment["GIT_CONFIG_COUNT"]) }, (_, index) => [
    environment[`GIT_CONFIG_KEY_${index}`] ?? "",
    environment[`GIT_CONFIG_VALUE_${index}`] ?? "",
  ]);
}
