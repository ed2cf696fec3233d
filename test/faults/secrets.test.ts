import { afterEach, expect } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { openPostgres } from "../../db/client.ts";
import { projects } from "../../db/schema/index.ts";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import type { Credential } from "../../src/git/git.ts";
import { type Answer, type CallOptions, caller, cleanEnvironment } from "../helpers/api.ts";
import { runClient, scratch } from "../helpers/gateway.ts";
import { serveGit } from "../helpers/git-http.ts";
import { createRepository, createTestGit } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, databaseFolder, POSTGRES, type TestDatabase } from "../helpers/postgres.ts";
import { descendantsOf, killIfThere } from "../helpers/processes.ts";
import { sample } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";
import type { Ran } from "../helpers/run-command.ts";
import { type SecretWatch, watchForSecrets } from "../helpers/secret-watch.ts";
import { filesWith } from "../helpers/secrets.ts";
import { serverCommand } from "../helpers/server-command.ts";
import { SSH_SERVER, startSshServer } from "../helpers/ssh-server.ts";
import { until } from "../helpers/until.ts";

const LINUX = process.platform === "linux";
const onLinux = needs("a real Postgres", POSTGRES && LINUX);
const withSsh = needs("an ssh server (sshd)", SSH_SERVER && POSTGRES && LINUX);

/** Undone after each test, the newest first. */
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

onLinux("a host's token is only in git's environment, which no other user can read", async () => {
  const token = `gh+p/${randomBytes(18).toString("base64url")}=`;
  const wrong = `wrong/${randomBytes(18).toString("base64url")}`;
  const basic = (secret: string) => Buffer.from(`x-access-token:${secret}`).toString("base64");
  const base64 = Buffer.from(token).toString("base64");
  const place = await start([token, basic(token), base64, encodeURIComponent(token)], [wrong, basic(wrong)]);
  let host = "up";
  using server = serveGit(dirname(place.remote.path), async (request) => {
    // long enough to observe the requesting process
    await Bun.sleep(20);
    const header = request.headers.get("authorization");
    if (host === "down") return new Response("no", { status: 503 });
    if (host === "echo") return new Response(`you sent ${header}`, { status: 403, statusText: `${header}` });
    if (host === "up" && header === `Basic ${basic(token)}`) return null;
    const headers = { "WWW-Authenticate": `Basic realm="${header}"` };
    return new Response(`not ${header}`, { status: 401, headers });
  });
  const url = `${server.origin}/${basename(place.remote.path)}`;
  // the address may hold it too
  await place.open(url.replace("://", `://x-access-token:${encodeURIComponent(token)}@`), undefined);
  await place.useAll();
  const answer = await place.call("PUT", `${place.path()}/git-credential`, { body: { token: wrong } });
  expect(answer.status).toBe(502);
  // one that says the token aloud in each run
  for (host of ["echo", ...sample(1, ["down", "locked"])]) await place.tryAll();
  host = "up";
  expect(place.said.join("\n")).toContain("remote: you are ***");
  await branchFrom(place, url, { username: "x-access-token", token });
  // git gets its password from `false`
  const others = [...place.watch.holders].filter(
    (name) => !/(?:^|\/)(?:git|git-remote-http|false)$/.test(name),
  );
  expect(others).toEqual([]);
  expect(place.watch.holders.size).toBeGreaterThan(0);
  await findNothing(place);
});

withSsh("an ssh key is only in a private file of git, which is removed afterwards", async () => {
  const folder = scratch();
  undo.push(() => folder[Symbol.dispose]());
  await using server = await startSshServer(folder.path);
  const key = readFileSync(server.key, "utf8");
  const lines = key.split("\n").filter((line) => line.length > 20 && !line.startsWith("---"));
  const place = await start(lines);
  const url = `${server.origin}${place.remote.path}`;
  await place.open(url, key);
  await place.useAll();
  // killed while the key's file is there
  await place.hang(async () => {
    expect(await filesWith(place.dataDir, lines)).toHaveLength(1);
    await place.restart();
    expect(await filesWith(place.dataDir, lines)).toEqual([]);
  });
  await server.stop();
  await place.tryAll();
  await server.listen();
  await branchFrom(place, url, { username: "git", token: key });
  expect([...place.watch.holders]).toEqual([]);
  await findNothing(place);
});

interface Place {
  database: TestDatabase;
  secrets: string[];
  folder: string;
  dataDir: string;
  remote: Remote;
  watch: SecretWatch;
  /** Everything that the server has said to anybody. */
  said: string[];
  path(): string;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Makes the project. */
  open(url: string, token: string | undefined): Promise<void>;
  /** All successful operations that contact the host. */
  useAll(): Promise<void>;
  /** The same, however it ends. */
  tryAll(): Promise<void>;
  /** A push that hangs on its host, in the meantime. */
  hang(meantime: () => Promise<void>): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A server that logs everything, and a host whose hooks say the credential aloud.
 * @param others secrets that the hooks do not know
 */
async function start(credential: string[], others: string[] = []): Promise<Place> {
  const secrets = [...credential, ...others];
  const { path: folder, [Symbol.dispose]: remove } = scratch();
  undo.push(remove);
  const [dataDir, needles] = [join(folder, "data"), join(folder, "needles")];
  mkdirSync(join(folder, "tmp"));
  writeFileSync(needles, `${secrets.join("\n")}\n`);
  writeFileSync(join(folder, "credential"), `${credential.join("\n")}\n`);
  const remote = new Remote();
  undo.push(() => remote.remove());
  remote.commit("main", { f: "1\n" });
  const aloud = `sed 's/^/you are /' '${join(folder, "credential")}' >&2`;
  remote.hook("pre-receive", `read old new ref; case $ref in */no*) ${aloud}; exit 1;; esac`);
  remote.hook(
    "post-receive",
    `${aloud}; [ ! -e halt ] || touch took; while [ -e halt ]; do sleep 0.05; done`,
  );
  const work = await createRepository(join(folder, "work.git"));
  await work.git("fetch", "--quiet", remote.path, "+refs/heads/*:refs/heads/*");
  const said: string[] = [];
  const database = await createDatabase();
  undo.push(() => database.drop());
  let server = await spawn();
  undo.push(() => end("SIGKILL"));
  const token =
    (await sendAdminCommand(dataDir, { verb: "token", email: "first@example.com", name: "t" })) ?? "";
  const watch = watchForSecrets(secrets, join(dataDir, "git", "temporary"), folder);
  undo.push(() => watch.stop());
  let path = "";
  let pushes = 0;

  return {
    secrets,
    database,
    folder,
    dataDir,
    remote,
    watch,
    said,
    path: () => path,
    call,
    async open(url, git_token) {
      const made = await call("POST", "/v1/projects", { body: { name: "p", repo_url: url, git_token } });
      expect(made.status).toBe(201);
      path = `/v1/projects/${made.body.project_id}`;
    },
    async useAll() {
      expect(await git("clone", "--bare", "--quiet", address(), join(folder, "clone"))).toMatchObject({
        code: 0,
      });
      expect(await push("work")).toMatchObject({ code: 0 });
      expect(await push("no")).toMatchObject({ code: 1 });
      const opened = await call("POST", `${path}/change-requests`, {
        body: { title: "t", head_ref: "work" },
      });
      expect(opened.status).toBe(201);
      const cr = `${path}/change-requests/1`;
      expect((await call("GET", `${cr}/merge-preview`)).status).toBe(200);
      expect((await call("POST", `${cr}/merge`)).status).toBe(200);
      const refused = { title: "t", head_ref: "main", base_ref: "not" };
      remote.git("branch", "not", remote.git("rev-parse", "main^").trim());
      expect((await call("POST", `${path}/change-requests`, { body: refused })).status).toBe(201);
      const answer = await call("POST", `${path}/change-requests/2/merge`);
      expect([answer.status, answer.body.code]).toEqual([409, "push_rejected"]);
      await hang(async () => killGit("push"));
    },
    async tryAll() {
      await git("fetch", address());
      await push("try");
      await call("GET", path);
      await call("GET", `${path}/change-requests/1`);
      await call("POST", `${path}/change-requests`, {
        body: { title: "t", head_ref: "work", base_ref: "not" },
      });
      await call("POST", `${path}/change-requests/2/merge`);
    },
    hang,
    async restart() {
      await end("SIGKILL");
      server = await spawn();
    },
    stop: () => end("SIGTERM"),
  };

  async function spawn() {
    const log = join(folder, "log");
    writeFileSync(
      log,
      existsSync(log) ? `${readFileSync(log, "utf8").replace(" listens on ", " listened on ")}` : "",
    );
    const child = Bun.spawn(["sh", "-c", 'exec "$@" >>"$0" 2>&1', log, ...serverCommand("api")], {
      env: {
        ...cleanEnvironment(),
        TMPDIR: join(folder, "tmp"),
        SVC_PORT: "0",
        SVC_DATA_DIR: dataDir,
        SVC_ALLOW_PRIVATE_REPOS: "1",
        SVC_LOG_LEVEL: "trace",
        DATABASE_URL: database.url,
      },
    });
    const url = () => / listens on (\S+)/.exec(readFileSync(log, "utf8"))?.[1];
    await until("the server listens", () => url() !== undefined);
    return { child, url: url() ?? "" };
  }

  async function end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    server.child.kill(signal);
    await server.child.exited;
  }

  function address(): string {
    return `${server.url.replace("://", `://x:${token}@`)}${path.replace("/v1/projects", "/v1/git")}.git`;
  }

  async function call(...request: Parameters<Place["call"]>): Promise<Answer> {
    const answer = await caller(server.url, token)(...request);
    said.push(answer.text, JSON.stringify([...answer.headers]));
    return answer;
  }

  async function git(...args: string[]): Promise<Ran> {
    const ran = await runClient(work.directory, ...args);
    said.push(ran.out, ran.err);
    return ran;
  }

  async function push(name: string): Promise<Ran> {
    const commit = await work.write([{ name, parents: ["refs/heads/main^0"], files: { f: `${++pushes}` } }]);
    return await git("push", address(), `+${commit[name]}:refs/heads/${name}`);
  }

  async function hang(meantime: () => Promise<void>): Promise<void> {
    rmSync(join(remote.path, "took"), { force: true });
    writeFileSync(join(remote.path, "halt"), "");
    const pushing = push("hang");
    await until("the host took it", () => existsSync(join(remote.path, "took")));
    await meantime();
    rmSync(join(remote.path, "halt"));
    await pushing;
  }

  async function killGit(verb: string): Promise<void> {
    for (const { pid, command } of descendantsOf(server.child.pid))
      if (command.startsWith(`git ${verb} `)) killIfThere(pid);
  }
}

/** A session's start creates a branch, over git's protocol. */
async function branchFrom({ folder, said }: Place, url: string, credential: Credential): Promise<void> {
  const dataDir = join(folder, "engine");
  const write = (fields: object, message: string) => void said.push(JSON.stringify(fields), message);
  const log = { debug: write, info: write, warn: write, error: write };
  await using engine = await createTestGit({ dataDir, log });
  const repo = { ...engine.repo(url), credential };
  await engine.git.createBranch(repo, { branch: "session", base: "main" });
  const refused = engine.git.createBranch(repo, { branch: "no", base: "work" });
  said.push(String(await refused.catch((error: unknown) => error)));
}

async function findNothing(place: Place): Promise<void> {
  await place.stop();
  await place.watch.stop();
  expect([...place.watch.found]).toEqual([]);
  const log = readFileSync(join(place.folder, "log"), "latin1");
  expect(log).toContain("git ended");
  for (const secret of place.secrets) {
    expect(log).not.toContain(secret);
    expect(place.said.join("\n")).not.toContain(secret);
  }
  for (const name of ["data", "engine", "tmp", "clone"])
    expect(await filesWith(join(place.folder, name), place.secrets)).toEqual([]);
  const { db, close } = await openPostgres(place.database.url);
  const rows = JSON.stringify(await db.select().from(projects));
  await close();
  for (const secret of place.secrets) expect(rows).not.toContain(JSON.stringify(secret).slice(1, -1));
  // what was written beside the folders that svc was given; of the databases only its own
  const grep = `grep -lFf '${place.folder}/needles'`;
  const search = `${grep} -rs '${await databaseFolder(place.database.url)}'
find '${tmpdir()}' -xdev -name 'svc-postgres-*' -prune -o -type f -newer '${place.folder}/needles' -not -path '${place.folder}/*' -exec ${grep} {} + 2>/dev/null`;
  expect(Bun.spawnSync(["sh", "-c", search]).stdout.toString()).toBe("");
}
