import { afterAll, beforeAll, expect } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { openPostgres } from "../../db/client.ts";
import { isEmpty } from "../../db/load.ts";
import { backUp } from "../../src/backup/back-up.ts";
import { BackupError } from "../../src/backup/format.ts";
import { collect, readArchive } from "../../src/backup/read-archive.ts";
import { restore } from "../../src/backup/restore.ts";
import { writeArchive } from "../../src/backup/write-archive.ts";
import { type Config, readConfig } from "../../src/config.ts";
import { RestoreUnfinishedError } from "../../src/data-folder.ts";
import { createGit } from "../../src/git/create.ts";
import { ensureUser } from "../../src/identity/accounts/make-user.ts";
import { open } from "../../src/open.ts";
import { QUIET, runGit } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, createEmptyDatabase, POSTGRES } from "../helpers/postgres.ts";
import { fc } from "../helpers/property.ts";
import { sample, share } from "../helpers/random.ts";
import { serverCommand } from "../helpers/server-command.ts";

const test = needs("a real Postgres", POSTGRES);
const folder = mkdtempSync(join(tmpdir(), "svc-restore-"));
const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

const LOG = pino({ level: "silent" });
const WATCH = { log: LOG, onPart() {} };
const HOSTED = "11111111-2222-4333-8444-555555555555";
const OTHER_KEY = "ab".repeat(32);

/** The parts of a whole archive, in order, and the archive. */
const parts: [string, Buffer][] = [];
let whole: Buffer;

beforeAll(async () => {
  if (!POSTGRES) return;
  const database = await createDatabase();
  undo.push(() => database.drop());
  const config = settings(database.url, "source");
  const opened = await open(config);
  const git = await createGit({
    dataDir: config.dataDir,
    allowPrivate: false,
    sshKeys: "project",
    log: QUIET,
  });
  await ensureUser(opened.database.db, "ada@example.com");
  await git.host({ id: HOSTED, url: null, credential: null }, "main");
  const repository = join(config.dataDir, "repositories", `${HOSTED}.git`);
  const tree = (await runGit(repository, ["mktree"], { stdin: "" })).stdout.toString().trim();
  const env = Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((who) => [
      [`GIT_${who}_NAME`, "a"],
      [`GIT_${who}_EMAIL`, "a@example.com"],
    ]),
  );
  const commit = (await runGit(repository, ["commit-tree", tree, "-m", "first"], { env })).stdout
    .toString()
    .trim();
  await runGit(repository, ["update-ref", "refs/heads/main", commit]);
  const site = join(config.dataDir, "sites", HOSTED);
  mkdirSync(join(site, "a"), { recursive: true });
  writeFileSync(join(site, "a", "index.html"), "hello");
  const { dataDir } = config;
  const masterKey = Buffer.from(readFileSync(join(dataDir, "master.key"), "utf8").trim(), "hex");
  whole = Buffer.concat(
    await Array.fromAsync(
      backUp({
        ...{ database: opened.database, git, keys: opened.keys, dataDir, masterKey },
        ...{ volumeMaxBytes: config.volumeMaxBytes, log: { warn() {} } },
      }),
    ),
  );
  await git.close();
  await opened.close();
  await readArchive(stream(whole), async (name, content) => {
    parts.push([name, Buffer.from(await collect(name, content))]);
  });
});

test("an archive that ends anywhere, or is changed anywhere, leaves folder and database empty", async () => {
  const database = await createEmptyDatabase();
  undo.push(() => database.drop());
  const config = settings(database.url, "cut");
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: whole.length - 1025 }), fc.boolean(), async (at, isCut) => {
      const bytes = isCut ? whole.subarray(0, at) : Buffer.from(whole);
      const isPadding = !isCut && bytes[at] === 0;
      if (!isCut) bytes[at] = (bytes[at] ?? 0) ^ 0x20;
      const outcome = await restore(config, stream(bytes), WATCH).then(
        () => "restored",
        (error: unknown) => (error instanceof BackupError ? "refused" : String(error)),
      );
      // tar fills blocks with zeros, and nobody reads the times and owners in its headers
      if (outcome === "restored" && !isCut) return expectRestored(config).then(() => reset(config));
      expect([outcome, isPadding && outcome === "restored"]).toEqual(["refused", false]);
      await expectNothing(config);
    }),
    { numRuns: share(3, 100) },
  );
});

/** The steps of a restore at which the process is killed. */
const STEPS = [
  "svc-backup.json",
  "database/public.users.jsonl",
  `repositories/${HOSTED}.git/pack`,
  `sites/${HOSTED}.tar`,
];

test.each(sample(1, STEPS))(
  "killed at %s: the server does not start, the next restore is complete, and recognized if it is killed after its last step",
  async (step) => {
    const database = await createEmptyDatabase();
    undo.push(() => database.drop());
    const config = settings(database.url, `killed-${STEPS.indexOf(step)}`);
    const file = join(folder, "whole.tar");
    writeFileSync(file, whole);
    const child = Bun.spawn([...serverCommand("restore"), file, step], {
      env: {
        ...process.env,
        DATABASE_URL: database.url,
        SVC_DATA_DIR: config.dataDir,
        SVC_LOG_LEVEL: "silent",
      },
      stdout: "ignore",
      stderr: "inherit",
    });
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    await expect(open(config)).rejects.toBeInstanceOf(RestoreUnfinishedError);
    await restore(config, stream(whole), WATCH);
    writeFileSync(join(config.dataDir, "restore-unfinished"), "placed\n");
    await expect(open(config)).rejects.toBeInstanceOf(RestoreUnfinishedError);
    expect(await restore(config, stream(whole), WATCH)).toBe("already complete");
    await expectRestored(config);
  },
);

test("a folder or a database that is not empty is left as it is", async () => {
  const database = await createDatabase();
  undo.push(() => database.drop());
  const config = settings(database.url, "used");
  await expect(restore(config, stream(whole), WATCH)).rejects.toThrow("database is not empty");
  writeFileSync(join(config.dataDir, "mine"), "1");
  await expect(restore(config, stream(whole), WATCH)).rejects.toThrow("it has mine");
  expect(readdirSync(config.dataDir)).toContain("mine");
});

type Change = (name: string, bytes: Buffer) => Buffer | null;
const inPart =
  (part: string | RegExp, change: (text: string) => string): Change =>
  (name, bytes) =>
    (typeof part === "string" ? name === part : part.test(name))
      ? Buffer.from(change(bytes.toString("latin1")), "latin1")
      : bytes;
const without =
  (part: RegExp): Change =>
  (name, bytes) =>
    part.test(name) ? null : bytes;
const header = (change: Record<string, unknown>) =>
  inPart("svc-backup.json", (text) => JSON.stringify({ ...JSON.parse(text), ...change }));

type Hostile = readonly [what: string, change: Change, outcome: RegExp];

/** Archives whose checksums are right, but that svc would never write. */
const EACH_RUN: readonly Hostile[] = [
  ["newer tables", header({ migration: 9e12 }), /tables are newer/],
  ["a newer format", header({ format: 2 }), /newer format/],
  ["another key's fingerprint", header({ key_fingerprint: "0".repeat(16) }), /master key/],
  ["no key", (name, bytes) => header({ has_key: false })(name, bytes), /without-key/],
  ["another key", inPart("files/master.key", () => OTHER_KEY), /not the key of its database/],
  ["no id of the server", (name, bytes) => (name === "files/server-id" ? null : bytes), /^restored$/],
  ["no database", without(/^database\//), /no database/],
  ["a missing table", without(/users\.jsonl$/), /users is missing/],
  [
    "SQL as a type",
    inPart("database/shape.json", (text) =>
      text.replace('"type":"uuid"', '"type":"uuid); drop table users; --"'),
    ),
    /^restored$/,
  ],
  [
    "SQL as a column",
    inPart("database/shape.json", (text) =>
      text.replace('"name":"email"', '"name":"email\\"); drop table users; --"'),
    ),
    /cannot be restored/,
  ],
  [
    "a ref outside of refs/",
    inPart(/\/refs$/, (text) => text.replace("refs/heads/main", "../../evil")),
    /cannot be restored/,
  ],
  [
    "a HEAD elsewhere",
    inPart(/repository\.json$/, (text) => text.replace("refs/heads/main", "../../evil")),
    /cannot be restored/,
  ],
];
/** Those of a kind are refused for the same reason: a run draws one of each kind. */
const KINDS: Readonly<Record<string, readonly Hostile[]>> = {
  rows: [
    ["a row of another shape", inPart(/public\.users\.jsonl$/, () => "[1,2\n"), /cannot be restored/],
    ["a row without its reference", inPart(/public\.accounts\.jsonl$/, () => ""), /cannot be restored/],
  ],
  objects: [
    ["a missing pack", without(/\/pack$/), /not (?:complete|where it belongs)/],
    [
      "a ref without its commit",
      inPart(/\/refs$/, (text) => text.replace(/^[0-9a-f]{4}/, "dead")),
      /cannot be restored/,
    ],
    [
      "a damaged pack",
      inPart(/\/pack$/, (text) => `${text.slice(0, 20)}xx${text.slice(22)}`),
      /cannot be restored/,
    ],
  ],
};
const HOSTILE = [...EACH_RUN, ...Object.values(KINDS).flatMap((kind) => sample(1, kind))];

/** What refuses an archive leaves it empty for the next one. */
let empty: Promise<Config> | undefined;

function emptyOne(): Promise<Config> {
  empty ??= createEmptyDatabase().then(({ url, drop }) => {
    undo.push(drop);
    return settings(url, "empty");
  });
  return empty;
}

test.each(HOSTILE)("an archive with %s", async (_, change, outcome) => {
  const config = await emptyOne();
  const changed = writeArchive(async (add) => {
    for (const [name, bytes] of parts) {
      const content = change(name, bytes);
      if (content !== null) await add(name, [content]);
    }
  });
  const found = await restore(config, changed, WATCH).then(
    () => "restored",
    (error: unknown) => (error instanceof BackupError ? error.message : `not expected: ${error}`),
  );
  expect(found).toMatch(outcome);
  if (found === "restored") await expectRestored(config).then(() => reset(config));
  else await expectNothing(config);
});

test("SVC_MASTER_KEY must be the key of the backup", async () => {
  const config = { ...(await emptyOne()), masterKey: Buffer.from(OTHER_KEY, "hex") };
  await expect(restore(config, stream(whole), WATCH)).rejects.toThrow(
    "SVC_MASTER_KEY is not the key of this backup",
  );
  await expectNothing(config);
});

function settings(databaseUrl: string, name: string): Config {
  return readConfig({ DATABASE_URL: databaseUrl, SVC_DATA_DIR: join(folder, name), SVC_LOG_LEVEL: "silent" });
}

async function expectNothing(config: Config): Promise<void> {
  expect(readdirSync(config.dataDir).filter((name) => !name.startsWith("lock"))).toEqual([]);
  const database = await openPostgres(config.databaseUrl ?? "", { migrate: false });
  try {
    expect(await database.transact("snapshot", isEmpty)).toBe(true);
  } finally {
    await database.close();
  }
}

async function expectRestored(config: Config): Promise<void> {
  const opened = await open(config);
  try {
    const users = await opened.database.transact("snapshot", (query) =>
      query("select email::text as email from users"),
    );
    expect(users).toEqual([{ email: "ada@example.com" }]);
  } finally {
    await opened.close();
  }
  const repository = join(config.dataDir, "repositories", `${HOSTED}.git`);
  expect((await runGit(repository, ["log", "--format=%s", "main"])).stdout.toString()).toBe("first\n");
  expect(readFileSync(join(config.dataDir, "sites", HOSTED, "a", "index.html"), "utf8")).toBe("hello");
  expect(readdirSync(config.dataDir)).not.toContain("restoring");
}

/** Empties folder and database for the next run. */
async function reset(config: Config): Promise<void> {
  rmSync(config.dataDir, { recursive: true, force: true });
  const database = await openPostgres(config.databaseUrl ?? "", { migrate: false });
  try {
    await database.transact("write", async (query) => {
      for (const schema of ["public", "drizzle"]) await query(`drop schema ${schema} cascade`);
      await query("create schema public");
    });
  } finally {
    await database.close();
  }
}

async function* stream(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
