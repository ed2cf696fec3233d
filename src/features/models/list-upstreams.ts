import { and, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { modelUpstreams } from "../../../db/schema/index.ts";
import type { ModelUpstream, UpstreamModel } from "../../contract/model-upstream.ts";
import type { Deps } from "../../deps.ts";
import { authorOf, namesOf } from "../../identity/auth/actor.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { Model, Upstream } from "../../models/catalog.ts";
import {
  hasId,
  isOf,
  type Owner,
  rowsFor,
  rowsOf,
  type UpstreamRow,
  upstreamsAmong,
} from "./stored-upstreams.ts";

/** The upstreams that serve the models of a project: its own, then the server's. No keys. */
export async function listUpstreams(
  deps: Pick<Deps, "db" | "keys" | "models">,
  { projectId }: ProjectRow,
): Promise<{ model_upstreams: ModelUpstream[] }> {
  const rows = await rowsFor(deps.db, projectId);
  const own = await allToWire(
    deps,
    deps.db,
    rows.filter((row) => row.projectId !== null),
  );
  const { server } = upstreamsAmong(deps, rows);
  // the operator's URL may be an address of the operator's network
  const others = server.map((upstream) => ({ ...unauthored(upstream, "server"), url: null }));
  return { model_upstreams: [...own, ...others] };
}

/** The server's upstreams, for operators: those of its configuration, then those in the database. No keys. */
export async function listServerUpstreams(
  deps: Pick<Deps, "db" | "models">,
): Promise<{ model_upstreams: ModelUpstream[] }> {
  const configured = deps.models.upstreams().map((upstream) => unauthored(upstream, "configuration"));
  const stored = await allToWire(deps, deps.db, await rowsOf(deps.db, null));
  return { model_upstreams: [...configured, ...stored] };
}

export function isUpstream(owner: Owner, upstreamId: string) {
  return and(isOf(owner), eq(modelUpstreams.upstreamId, upstreamId));
}

export async function toWire(deps: Pick<Deps, "models">, db: Db, row: UpstreamRow): Promise<ModelUpstream> {
  const [shown] = await allToWire(deps, db, [row]);
  if (!shown) throw new Error("an upstream was left out");
  return shown;
}

async function allToWire(
  { models }: Pick<Deps, "models">,
  db: Db,
  rows: readonly UpstreamRow[],
): Promise<ModelUpstream[]> {
  const names = await namesOf(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  return rows.map((row) => ({
    id: row.upstreamId,
    source: row.projectId === null ? "server" : "project",
    overridden: row.projectId === null && hasId(models.upstreams(), row.upstreamId),
    format: row.format,
    url: row.url,
    models: row.models,
    author: row.createdBy === null ? null : authorOf(names, row.createdBy, null),
    updated_at: row.updatedAt.toISOString(),
  }));
}

function unauthored({ id, format, url, models }: Upstream, source: ModelUpstream["source"]): ModelUpstream {
  return {
    id,
    source,
    overridden: false,
    format,
    url,
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
