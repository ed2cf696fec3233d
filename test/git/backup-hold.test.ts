import { expect, test } from "bun:test";
import { join } from "node:path";
import { takeSnapshot } from "../../src/backup/snapshot.ts";
import type { Git, Repository } from "../../src/git/git.ts";
import { createRepository, createTestGit, runGit, temporary } from "../helpers/git-repo.ts";
import { openDatabase } from "../helpers/postgres.ts";

/** Git processes that run one after the other: they take much longer than two changes of refs. */
const PROCESSES = 20;

test("no branch moves and no commit of a change request is kept while a backup lists the refs", async () => {
  await using directory = await temporary();
  await using engine = await createTestGit({ dataDir: directory.path });
  const { git } = engine;
  const repo: Repository = { id: crypto.randomUUID(), url: null, credential: null };
  await git.host(repo, "main");
  const seed = await createRepository(join(directory.path, "seed"));
  const { one = "", two = "" } = await seed.write([
    { name: "one", branch: "main", files: { f: "1" } },
    { name: "two", branch: "main", parents: ["one"], files: { f: "2" } },
  ]);
  await seed.git("push", "-q", join(directory.path, "repositories", `${repo.id}.git`), "refs/heads/main");
  const events: string[] = [];
  let changes: Promise<unknown> = Promise.resolve();
  // the copy of a backup, with changes that begin meanwhile
  const copy = async (folder: string) => {
    changes = Promise.all([
      git.push(repo, { branch: "main", from: two, to: one }).then(() => events.push("moved")),
      git.keep(repo, 1, { base: one, "head/1": two, merge: two }).then(() => events.push("kept")),
    ]);
    for (let n = 0; n < PROCESSES; n++) await runGit(directory.path, ["version"]);
    const copies = await git.backups.copy(folder);
    events.push("copied");
    return copies;
  };
  const held: Git = { ...git, backups: { ...git.backups, copy } };
  const database = await openDatabase();
  try {
    const { repositories } = await takeSnapshot({ database, git: held }, join(directory.path, "backup"));
    expect(repositories.map(({ refs }) => Buffer.from(refs).toString())).toEqual([
      `${two} refs/heads/main\n`,
    ]);
    await changes;
    expect(events[0]).toBe("copied");
    expect(events.toSorted()).toEqual(["copied", "kept", "moved"]);
  } finally {
    await changes;
    await database.close();
  }
});
