import { and, eq, inArray, sql } from "drizzle-orm";
import { projectSecrets, runtimeChoices } from "../../../../db/schema/index.ts";
import type { RuntimeChoices } from "../../../contract/daemon.ts";
import { SvcError } from "../../../contract/errors.ts";
import {
  DEFAULT_MODE,
  DEFAULT_RUNTIME,
  isRuntimeName,
  PERMISSION_MODES,
  RUNTIMES,
  type RuntimeKind,
  runtimeKind,
  unknownRuntime,
} from "../../../contract/runtimes.ts";
import type { SessionChoices } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { isWithinReach } from "../../../jobs/places.ts";
import { within } from "../../../lib/within.ts";
import { type Daemon, fetchChoices } from "../../../sandboxes/daemon.ts";
import { modelsOfFormat } from "../../models/list-models.ts";
import { upstreamsOf } from "../../models/stored-upstreams.ts";
import { readManifestOf } from "../../projects/policy.ts";
import { hasOwnSecret } from "../../secrets/own/open.ts";
import { reachSession, type SessionRow } from "../row.ts";
import { holderOf } from "../secrets.ts";

/** What an agent of a project can work with, as far as svc knows. */
export interface Known extends Pick<SessionChoices, "runtime" | "source" | "models" | "modes"> {
  title: string;
  /** The gateway's models, of which it may accept any; null: there is none, or the agent has a key of its own. */
  gateway: { names: ReadonlySet<string>; acceptsAny: boolean } | null;
  /** Those of the running agent, or of the same one in an earlier session. */
  agents: RuntimeChoices["agents"];
}

/** The prefix of the gateway's models. */
export const GATEWAY = "svc/";
/** After this long, the default runtime is assumed. */
const MANIFEST_MS = 15_000;

/** The runtime of a session that has chosen one, or of a project's sessions. */
export async function runtimeFor(
  deps: Deps,
  project: ProjectRow,
  chosen: string | null | undefined,
): Promise<string> {
  if (chosen) return chosen;
  const late = () => new SvcError("unavailable", "The repository did not answer in time.");
  try {
    const reading = readManifestOf(deps, project);
    // it may fail after the timeout
    reading.catch(() => {});
    return (await within(reading, MANIFEST_MS, late))?.sandbox.runtime ?? DEFAULT_RUNTIME;
  } catch (error) {
    if (error instanceof SvcError) return DEFAULT_RUNTIME;
    throw error;
  }
}

/**
 * @param session that runs the agent; null: a new one
 * @param holder the person whose own secrets the session gets: with a key of theirs, what it offers is only theirs
 * @throws validation_failed for an agent that the server does not have
 */
export async function knownChoices(
  deps: Deps,
  project: ProjectRow,
  runtime: string,
  session: SessionRow | null,
  holder: string | null,
): Promise<Known> {
  const { projectId } = project;
  const kind = runtimeKind(runtime, deps.customRuntimes);
  if (!kind) throw new SvcError("validation_failed", unknownRuntime(runtime, deps.customRuntimes));
  const [upstreams, key, live] = await Promise.all([
    upstreamsOf(deps, deps.db, projectId),
    keyOf(deps, projectId, kind, holder),
    session && readLive(deps, session),
  ]);
  if (live && key !== "person") await rememberChoices(deps, projectId, runtime, live);
  const found = live ?? (key === "person" ? null : await earlier(deps, projectId, runtime));
  const { ids, any } = modelsOfFormat(upstreams, kind.modelFormat);
  const usesGateway = (found?.gateway ?? key === null) && (ids.length > 0 || any !== undefined);
  const efforts = isRuntimeName(runtime) ? [...RUNTIMES[runtime].efforts] : [];
  const models = found?.models ?? [];
  return {
    runtime,
    title: kind.title,
    source: live ? "agent" : found ? "earlier" : "svc",
    models: [...(usesGateway ? ids.map((id) => ({ id: GATEWAY + id, name: id, efforts })) : []), ...models],
    // of an agent that svc does not know, only that mode is sure
    modes: found?.modes ?? (isRuntimeName(runtime) ? [...PERMISSION_MODES] : [DEFAULT_MODE]),
    gateway: usesGateway ? { names: new Set(ids), acceptsAny: any !== undefined } : null,
    agents: found?.agents ?? [],
  };
}

/**
 * Reads what the agent of a running sandbox offers, for the project's later sessions: not with a person's own key. A
 * failure is not an error.
 */
export async function noteChoices(
  deps: Deps,
  { projectId, runtime }: { projectId: string; runtime: string },
  session: SessionRow,
  daemon: Daemon,
): Promise<void> {
  const kind = runtimeKind(runtime, deps.customRuntimes);
  if (kind && (await keyOf(deps, projectId, kind, holderOf(session))) === "person") return;
  const choices = await fetchChoices(daemon);
  if (choices) await rememberChoices(deps, projectId, runtime, choices);
}

async function readLive(deps: Deps, session: SessionRow): Promise<RuntimeChoices | null> {
  if (session.status !== "running" || !isWithinReach(deps, session)) return null;
  const reached = await reachSession(deps, session.sessionId);
  return reached?.daemon ? await fetchChoices(reached.daemon) : null;
}

async function rememberChoices(
  { db, clock }: Pick<Deps, "db" | "clock">,
  projectId: string,
  runtime: string,
  choices: RuntimeChoices,
): Promise<void> {
  const row = { choices, updatedAt: clock() };
  // one that is the same is not written again
  await db
    .insert(runtimeChoices)
    .values({ projectId, runtime, ...row })
    .onConflictDoUpdate({
      target: [runtimeChoices.projectId, runtimeChoices.runtime],
      set: row,
      setWhere: sql`${runtimeChoices.choices} is distinct from excluded.choices`,
    });
}

async function earlier(
  { db }: Pick<Deps, "db">,
  projectId: string,
  runtime: string,
): Promise<RuntimeChoices | null> {
  const [row] = await db
    .select({ choices: runtimeChoices.choices })
    .from(runtimeChoices)
    .where(and(eq(runtimeChoices.projectId, projectId), eq(runtimeChoices.runtime, runtime)));
  return row?.choices ?? null;
}

/** Who gives the agent a key: the person who starts the session, or the project; null: only the gateway has one. */
export async function keyOf(
  deps: Pick<Deps, "db">,
  projectId: string,
  { secrets: names }: Pick<RuntimeKind, "secrets">,
  holder: string | null,
): Promise<"person" | "project" | null> {
  if (names.length === 0) return null;
  if (holder !== null && (await hasOwnSecret(deps, holder, projectId, names))) return "person";
  const [secret] = await deps.db
    .select({ name: projectSecrets.name })
    .from(projectSecrets)
    .where(and(eq(projectSecrets.projectId, projectId), inArray(projectSecrets.name, [...names])))
    .limit(1);
  return secret ? "project" : null;
}
