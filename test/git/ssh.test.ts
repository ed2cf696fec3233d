import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { SvcError } from "../../src/contract/errors.ts";
import { createRepository, createTestGit, QUIET, temporary } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";

const SSHD = "/usr/sbin/sshd";
const USER = Bun.spawnSync(["id", "-un"]).stdout.toString().trim();
const withServer = needs("an ssh server (sshd)", existsSync(SSHD) && Bun.which("ssh-keygen") !== null);

withServer(
  "a stored key opens an ssh remote: list, fetch, push; another key, or a changed host key, does not",
  async () => {
    await using directory = await temporary();
    await using server = await startServer(directory.path);
    const upstream = await createRepository(join(directory.path, "it's a repo"));
    const { one = "", two = "" } = await upstream.write([
      { name: "one", branch: "main", files: { f: "1" } },
      { name: "two", branch: "work", parents: ["one"], files: { f: "2" } },
    ]);
    const dataDir = join(directory.path, "da ta%");
    const url = `ssh://${USER}@127.0.0.1:${server.port}${directory.path}/it's%20a%20repo`;
    const credential = { username: "git", token: await Bun.file(server.key).text() };
    {
      await using engine = await createTestGit({ dataDir });
      const checked = await engine.git.checkRemote(url);
      const repo = { ...engine.repo(checked.url), credential };
      expect((await engine.git.listBranches(repo, 10_000)).tips.get("main")).toBe(one);
      expect(await engine.git.ensureCommits(repo, [one, two])).toBe(true);
      expect(await engine.git.push(repo, { branch: "main", from: one, to: two })).toEqual({
        outcome: "moved",
      });
      expect(await upstream.git("rev-parse", "refs/heads/main")).toBe(two);

      const stranger = {
        ...repo,
        credential: { username: "git", token: await Bun.file(server.otherKey).text() },
      };
      const refused = await engine.git.listBranches(stranger, 10_000).catch((error: SvcError) => error);
      expect(refused).toMatchObject({
        code: "repo_unreachable",
        message: expect.stringContaining("refused access"),
      });
      // nothing of the server's user opens it either
      const nobody = { ...repo, credential: null };
      expect(engine.git.listBranches(nobody, 10_000)).rejects.toMatchObject({ code: "repo_unreachable" });
      await engine.git.listBranches(nobody, 10_000).catch(() => {});
    }
    await server.changeHostKey();
    await using engine = await createTestGit({ dataDir, log: QUIET });
    const repo = { ...engine.repo(url), credential };
    const changed = await engine.git.listBranches(repo, 10_000).catch((error: SvcError) => error);
    expect(changed).toMatchObject({
      code: "repo_unreachable",
      message: expect.stringContaining("not the one that is known"),
    });
  },
  30_000,
);

async function startServer(root: string) {
  const directory = join(root, "sshd");
  await mkdir(directory, { mode: 0o700 });
  if (process.getuid?.() === 0) await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  for (const name of ["host", "key", "other"]) await makeKey(join(directory, name));
  await Bun.write(join(directory, "authorized"), Bun.file(join(directory, "key.pub")));
  const port = freePort();
  const config = [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${directory}/host`,
    `AuthorizedKeysFile ${directory}/authorized`,
    `PidFile ${directory}/pid`,
    "StrictModes no",
    "UsePAM no",
    "PermitRootLogin prohibit-password",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
  ];
  await Bun.write(join(directory, "config"), `${config.join("\n")}\n`);
  await chmod(join(directory, "config"), 0o600);
  let child = await listen();
  return {
    port,
    key: join(directory, "key"),
    otherKey: join(directory, "other"),
    async changeHostKey() {
      await stop();
      await Bun.$`rm -f ${directory}/host ${directory}/host.pub`.quiet();
      await makeKey(join(directory, "host"));
      child = await listen();
    },
    [Symbol.asyncDispose]: stop,
  };

  async function listen() {
    const log = Bun.file(join(directory, "log"));
    await Bun.write(log, "");
    const started = Bun.spawn([SSHD, "-D", "-e", "-f", join(directory, "config")], {
      stdout: "ignore",
      stderr: log,
    });
    for (let tries = 0; tries < 100; tries++) {
      if ((await log.text()).includes("Server listening")) return started;
      await Bun.sleep(20);
    }
    throw new Error(`sshd did not start: ${await log.text()}`);
  }

  async function stop(): Promise<void> {
    child.kill();
    await child.exited;
  }
}

async function makeKey(path: string): Promise<void> {
  const made = Bun.spawnSync(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path]);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
}

function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop(true);
  return port;
}
