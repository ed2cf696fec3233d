import { asc, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { modelUpstreams } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { createCache } from "../../lib/cache.ts";
import {
  firstModel,
  type Model,
  type ProjectUpstreams,
  pricesOf,
  type Upstream,
} from "../../models/catalog.ts";

export type UpstreamRow = typeof modelUpstreams.$inferSelect;

/** How long the upstreams of a project are known: as long as a key. */
const CACHE_MS = 1_000;
const CACHE_MAX = 10_000;

/** The model of sessions that do not choose one; null: the runtime's own. */
export async function defaultModelOf(
  deps: UpstreamDeps & Pick<Deps, "config">,
  projectId: string,
): Promise<string | null> {
  const { own, server } = await upstreamsOf(deps, deps.db, projectId);
  return firstModel(own, "openai") ?? deps.config.defaultModel ?? firstModel(server, "openai");
}

type UpstreamDeps = Pick<Deps, "db" | "keys" | "models">;

/** The upstreams of a project. Synchronous when its own are cached; the server's are always the current ones. */
export function createUpstreamFinder(
  deps: UpstreamDeps,
): (projectId: string) => ProjectUpstreams | Promise<ProjectUpstreams> {
  const once = createCache<Upstream[]>({ keepMs: CACHE_MS, max: CACHE_MAX }, () => true);
  return (projectId) => {
    const all = (own: Upstream[]) => ({ own, server: deps.models.upstreams() });
    const own = once(projectId, () => ownUpstreams(deps, deps.db, projectId));
    return own instanceof Promise ? own.then(all) : all(own);
  };
}

/** A project's own upstreams, in the order of their ids, and the server's. */
export async function upstreamsOf(
  deps: Omit<UpstreamDeps, "db">,
  db: Db,
  projectId: string,
): Promise<ProjectUpstreams> {
  return { own: await ownUpstreams(deps, db, projectId), server: deps.models.upstreams() };
}

async function ownUpstreams({ keys }: Pick<Deps, "keys">, db: Db, projectId: string): Promise<Upstream[]> {
  return (await rowsOf(db, projectId)).flatMap((row) => opened(keys, row) ?? []);
}

export async function rowsOf(db: Db, projectId: string): Promise<UpstreamRow[]> {
  return await db
    .select()
    .from(modelUpstreams)
    .where(eq(modelUpstreams.projectId, projectId))
    .orderBy(asc(modelUpstreams.upstreamId));
}

/** Binds a sealed key to the place it is sent to: the same key cannot be opened for another URL. */
export const keyPurpose = (upstreamId: string, url: string) => `model upstream key ${upstreamId} ${url}`;

/** Null if the key was sealed with another master key. */
function opened(keys: Deps["keys"], row: UpstreamRow): Upstream | null {
  const { projectId, upstreamId: id, format, url, models } = row;
  try {
    const key = keys.open(projectId, keyPurpose(id, url), row.key);
    return { id, format, url, key, isOfProject: true, models: models && new Map(models.map(modelOf)) };
  } catch {
    return null;
  }
}

function modelOf(stored: NonNullable<UpstreamRow["models"]>[number]): [string, Model] {
  const { id, name = id, input, output, cached_input: cached } = stored;
  return [id, { id, name, prices: pricesOf({ input, output, cached }) ?? null }];
}
