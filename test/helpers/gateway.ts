import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { type Db, openPostgres } from "../../db/client.ts";
import { accountMembers, projects, runs, sessionSandboxes, users } from "../../db/schema/index.ts";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import { keyPurpose } from "../../src/features/runs/reach.ts";
import type { GitLimits } from "../../src/git/run/limits.ts";
import { createKeys, loadMasterKey } from "../../src/keys.ts";
import { type Api, startApi } from "./api.ts";
import { createDatabase } from "./postgres.ts";
import { Remote } from "./remote.ts";
import { type Ran, runCommand } from "./run-command.ts";
import { changeRun, insertSession } from "./session-row.ts";

/** A project and where its repository lies on this disk: the git host's folder, or svc's own. */
export interface Place {
  project: { project_id: string; account_id: string };
  directory: string;
}

/** A server on a real Postgres, with a project that svc hosts and one on a git host (a folder of the test's). */
export interface GatewayBench {
  api: Api;
  hosted: Place;
  external: Place;
  remote: Remote;
  /** Inserts a session like the product. */
  session(place: Place, status?: "running" | "stopped", sandbox?: SandboxOf): Promise<SessionOf>;
  end(sessionId: string): Promise<void>;
  /** The token of one more user, who is a plain member of the project's account. */
  member(place: Place, email: string): Promise<string>;
  db: Db;
  keys: ReturnType<typeof createKeys>;
  /** The address of a project's gateway, with a credential in it. */
  url(place: Place, credential: string | null): string;
  stop(): Promise<void>;
}

/** A sandbox that is already running. */
export interface SandboxOf {
  sessionId: string;
  serviceKey: string;
  host: string;
  port: number;
}

export interface SessionOf {
  id: string;
  branch: string;
  /** The project token of the session, its sandbox's key, and a clone credential made with that. */
  token: string;
  serviceKey: string;
  cloneCredential: string;
}

export async function startGateway(
  env: Record<string, string> = {},
  gitLimits: Partial<GitLimits> = {},
): Promise<GatewayBench> {
  const database = await createDatabase();
  const api = await startApi({ env: { DATABASE_URL: database.url, ...env }, deps: { gitLimits } });
  const { db, close } = await openPostgres(database.url);
  const remote = new Remote();
  remote.commit("main", { a: "1\n" });
  const made = (await api.call("POST", "/v1/projects", { body: { name: "Hosted" } })).body;
  const [row] = await db.select().from(projects).where(eq(projects.projectId, made.project_id));
  const hosted = { project: made, directory: join(api.dataDir, "repositories", `${row?.mirrorId}.git`) };
  const external = { project: await api.project(remote.url), directory: remote.path };
  const keys = createKeys(loadMasterKey(api.dataDir));
  const { user_id } = (await api.call("GET", "/v1/accounts/me")).body;
  return {
    api,
    hosted,
    external,
    remote,
    keys,
    url: (place, credential) =>
      `${api.url.replace("://", credential === null ? "://" : `://x:${credential}@`)}/v1/git/${place.project.project_id}.git`,
    db,
    async session({ project }, status = "running", sandbox) {
      const id = sandbox?.sessionId ?? crypto.randomUUID();
      const { project_id: projectId, account_id: accountId } = project;
      // checks of this server's sandboxes ignore it, and every server can reach it
      const cluster = { provider: "kubernetes", place: "kubernetes" } as const;
      await insertSession(db, { sessionId: id, projectId, accountId, createdBy: user_id }, cluster);
      const path = `/v1/projects/${projectId}`;
      const minted = await api.call("POST", `${path}/cli-token`, { body: { session_id: id } });
      const serviceKey = sandbox?.serviceKey ?? `svc_sb_${id.replaceAll("-", "")}`;
      await db.insert(sessionSandboxes).values({
        runId: id,
        state: "active",
        serviceKeyHash: keys.hashToken(serviceKey),
        serviceKey: keys.seal(projectId, keyPurpose(id), serviceKey),
        host: sandbox?.host ?? null,
        port: sandbox?.port ?? null,
      });
      const issued = await api.call("GET", `${path}/git/clone-credential`, { token: serviceKey });
      if (status !== "running") await changeRun(db, id, { status });
      return {
        id,
        branch: id,
        token: minted.body.token,
        serviceKey,
        cloneCredential: issued.body.auth.token,
      };
    },
    async end(sessionId) {
      await db.delete(runs).where(eq(runs.runId, sessionId));
    },
    async member({ project }, email) {
      const token = await api.mint(email);
      const [user] = await db.select().from(users).where(eq(users.email, email));
      if (!user) throw new Error("no user was made");
      const { account_id: accountId } = project;
      await db
        .insert(accountMembers)
        .values({ accountId, userId: user.userId, role: "member" })
        .onConflictDoNothing();
      return token;
    },
    async stop() {
      await api.stop();
      await close();
      await database.drop();
      remote.remove();
    },
  };
}

/** Runs git as a client in a folder, with any exit status. */
export async function runClient(directory: string, ...args: string[]): Promise<Ran> {
  return await runClientWith({}, directory, ...args);
}

/** The same with variables of the caller's. */
export async function runClientWith(
  environment: Record<string, string>,
  directory: string,
  ...args: string[]
): Promise<Ran> {
  const env = { ...GIT_ENVIRONMENT, GIT_TERMINAL_PROMPT: "0", ...environment };
  return await runCommand(["git", ...args], { cwd: directory, env });
}

/** All refs of a repository on this disk → what they name. */
export async function refsOf(directory: string): Promise<Record<string, string>> {
  const { out } = await runClient(directory, "for-each-ref", "--format=%(refname) %(objectname)");
  return Object.fromEntries(
    out
      .split("\n")
      .filter(Boolean)
      .map((line) => line.split(" ")),
  );
}

/** Sets a repository's refs to exactly these. */
export async function setRefs(directory: string, refs: Record<string, string>): Promise<void> {
  const gone = Object.keys(await refsOf(directory)).filter((ref) => !(ref in refs));
  const lines = [
    ...gone.map((ref) => `delete ${ref}\n`),
    ...Object.entries(refs).map(([ref, id]) => `update ${ref} ${id}\n`),
  ];
  const child = Bun.spawn(["git", "update-ref", "--stdin"], {
    cwd: directory,
    env: GIT_ENVIRONMENT,
    stdin: Buffer.from(lines.join("")),
    stderr: "pipe",
  });
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
}

/** A folder that is removed when it is disposed. */
export function scratch(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "svc-client-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
