import { and, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { modelUpstreams } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { ModelUpstream, UpstreamModel } from "../../contract/model-upstream.ts";
import type { Deps } from "../../deps.ts";
import { authorOf, namesOf } from "../../identity/auth/actor.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { Model, Upstream } from "../../models/catalog.ts";
import { rowsOf, type UpstreamRow } from "./project-upstreams.ts";

/** The upstreams that serve the models of a project: its own, then the server's. No keys. */
export async function listUpstreams(
  { db, models }: Pick<Deps, "db" | "models">,
  { projectId }: ProjectRow,
): Promise<{ model_upstreams: ModelUpstream[] }> {
  const own = await allToWire(db, await rowsOf(db, projectId));
  return { model_upstreams: [...own, ...models.upstreams().map(ofServer)] };
}

/** Removes an upstream with its key. @throws not_found */
export async function removeUpstream(
  { db }: Pick<Deps, "db">,
  { projectId }: ProjectRow,
  upstreamId: string,
): Promise<{ ok: true }> {
  const [gone] = await db
    .delete(modelUpstreams)
    .where(isUpstream(projectId, upstreamId))
    .returning({ id: modelUpstreams.upstreamId });
  if (gone) return { ok: true };
  throw new SvcError(
    "not_found",
    "The project has no such upstream of its own. List its upstreams with: svc models ls",
  );
}

export function isUpstream(projectId: string, upstreamId: string) {
  return and(eq(modelUpstreams.projectId, projectId), eq(modelUpstreams.upstreamId, upstreamId));
}

export async function toWire(db: Db, row: UpstreamRow): Promise<ModelUpstream> {
  const [shown] = await allToWire(db, [row]);
  if (!shown) throw new Error("an upstream was left out");
  return shown;
}

async function allToWire(db: Db, rows: readonly UpstreamRow[]): Promise<ModelUpstream[]> {
  const names = await namesOf(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  return rows.map((row) => ({
    id: row.upstreamId,
    source: "project",
    format: row.format,
    url: row.url,
    models: row.models,
    author: row.createdBy === null ? null : authorOf(names, row.createdBy, null),
    updated_at: row.updatedAt.toISOString(),
  }));
}

/** The operator's URL may be an address of the operator's network. */
function ofServer({ id, format, models }: Upstream): ModelUpstream {
  return {
    id,
    source: "server",
    format,
    url: null,
    models: models && [...models.values()].map(modelToWire),
    author: null,
    updated_at: null,
  };
}

function modelToWire({ id, prices }: Model): UpstreamModel {
  return {
    id,
    ...(prices && { input: prices.input, output: prices.output, cached_input: prices.cachedInput }),
  };
}
