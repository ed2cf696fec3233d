import { asc, eq, isNull, or, type SQL } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { modelUpstreams } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { createCache } from "../../lib/cache.ts";
import { type Model, type ProjectUpstreams, pricesOf, type Upstream } from "../../models/catalog.ts";

export type UpstreamRow = typeof modelUpstreams.$inferSelect;

/** The id of the project that stored upstreams belong to; null: they are the server's own. */
export type Owner = string | null;

/** How long stored upstreams are known: as long as a key. */
const CACHE_MS = 1_000;
const CACHE_MAX = 10_000;

/** The upstreams of a project. Synchronous when the stored ones are cached; the configured ones are always current. */
export function createUpstreamFinder(
  deps: Pick<Deps, "db" | "keys" | "models">,
): (projectId: string) => ProjectUpstreams | Promise<ProjectUpstreams> {
  const once = createCache<Upstream[]>({ keepMs: CACHE_MS, max: CACHE_MAX }, () => true);
  const find = (owner: Owner) => once(owner ?? "", async () => openAll(deps, await rowsOf(deps.db, owner)));
  return (projectId) => {
    const [own, stored] = [find(projectId), find(null)];
    if (!(own instanceof Promise || stored instanceof Promise)) return withServer(deps, own, stored);
    return Promise.all([own, stored]).then(([mine, servers]) => withServer(deps, mine, servers));
  };
}

/** A project's own upstreams, in the order of their ids, and the server's. */
export async function upstreamsOf(
  deps: Pick<Deps, "keys" | "models">,
  db: Db,
  projectId: string,
): Promise<ProjectUpstreams> {
  return upstreamsAmong(deps, await rowsFor(db, projectId));
}

/** @param rows those of a project and of the server */
export function upstreamsAmong(
  deps: Pick<Deps, "keys" | "models">,
  rows: readonly UpstreamRow[],
): ProjectUpstreams {
  const { own = [], server = [] } = Object.groupBy(openAll(deps, rows), ({ isOfProject }) =>
    isOfProject ? "own" : "server",
  );
  return withServer(deps, own, server);
}

/** The server's upstreams are the configured ones, then the stored ones whose ids the configuration does not have. */
function withServer(
  { models }: Pick<Deps, "models">,
  own: readonly Upstream[],
  stored: readonly Upstream[],
): ProjectUpstreams {
  const configured = models.upstreams();
  const others = stored.filter(({ id }) => !hasId(configured, id));
  return { own, server: [...configured, ...others] };
}

export function hasId(upstreams: readonly Upstream[], id: string): boolean {
  return upstreams.some((upstream) => upstream.id === id);
}

function openAll({ keys }: Pick<Deps, "keys">, rows: readonly UpstreamRow[]): Upstream[] {
  return rows.flatMap((row) => opened(keys, row) ?? []);
}

/** The stored upstreams of one owner, in the order of their ids. */
export async function rowsOf(db: Db, owner: Owner): Promise<UpstreamRow[]> {
  return await rowsWhere(db, isOf(owner));
}

/** The stored upstreams of a project and of the server, in the order of their ids. */
export async function rowsFor(db: Db, projectId: string): Promise<UpstreamRow[]> {
  return await rowsWhere(db, or(isOf(projectId), isOf(null)));
}

async function rowsWhere(db: Db, condition: SQL | undefined): Promise<UpstreamRow[]> {
  return await db.select().from(modelUpstreams).where(condition).orderBy(asc(modelUpstreams.upstreamId));
}

export function isOf(owner: Owner) {
  return owner === null ? isNull(modelUpstreams.projectId) : eq(modelUpstreams.projectId, owner);
}

/** Seals a key for the place it is sent to: it cannot be opened for another owner, id or URL. */
export function sealKey(
  keys: Pick<Deps["keys"], "seal">,
  { owner, id, url }: { owner: Owner; id: string; url: string },
  key: string,
): string {
  return keys.seal(owner ?? SERVER, keyPurpose(id, url), key);
}

/** In place of a project's id, which is a UUID. */
const SERVER = "server";

const keyPurpose = (upstreamId: string, url: string) => `model upstream key ${upstreamId} ${url}`;

/** Null if the key was sealed with another master key. */
function opened(keys: Deps["keys"], row: UpstreamRow): Upstream | null {
  const { projectId, upstreamId: id, format, url, models } = row;
  try {
    const key = keys.open(projectId ?? SERVER, keyPurpose(id, url), row.key);
    const isOfProject = projectId !== null;
    return { id, format, url, key, isOfProject, models: models && new Map(models.map(modelOf)) };
  } catch {
    return null;
  }
}

function modelOf(stored: NonNullable<UpstreamRow["models"]>[number]): [string, Model] {
  const { id, name = id, input, output, cached_input: cached } = stored;
  return [id, { id, name, prices: pricesOf({ input, output, cached }) ?? null }];
}
