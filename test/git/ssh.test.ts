import { expect } from "bun:test";
import { join } from "node:path";
import type { SvcError } from "../../src/contract/errors.ts";
import { createRepository, createTestGit, QUIET, temporary } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { SSH_SERVER, startSshServer } from "../helpers/ssh-server.ts";

const withServer = needs("an ssh server (sshd)", SSH_SERVER);

withServer(
  "lists, fetches and pushes with a stored ssh key; rejects another key and a changed host key",
  async () => {
    await using directory = await temporary();
    await using server = await startSshServer(directory.path);
    const upstream = await createRepository(join(directory.path, "it's a repo"));
    const { one = "", two = "" } = await upstream.write([
      { name: "one", branch: "main", files: { f: "1" } },
      { name: "two", branch: "work", parents: ["one"], files: { f: "2" } },
    ]);
    const dataDir = join(directory.path, "da ta%");
    const url = `${server.origin}${directory.path}/it's%20a%20repo`;
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
);
