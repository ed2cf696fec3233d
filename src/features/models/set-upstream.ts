import { and, eq, isNull, ne, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { modelUpstreams } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import {
  type ModelUpstream,
  type SetModelUpstreamBody,
  UPSTREAM_ID,
  UPSTREAMS_MAX,
  type UpstreamModel,
} from "../../contract/model-upstream.ts";
import type { Deps } from "../../deps.ts";
import { requireOutboundUrl } from "../../http/outbound-url.ts";
import { type AuditEntry, audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { CatalogError, pricesOf, upstreamUrl } from "../../models/catalog.ts";
import { lockProject } from "../projects/lock.ts";
import { isUpstream, toWire } from "./list-upstreams.ts";
import { isOf, type Owner, sealKey } from "./stored-upstreams.ts";

/**
 * Adds an upstream to a project or to the server, or replaces it. Its key stays if none is given and the URL is the same.
 * @throws validation_failed, url_not_allowed
 */
export async function setUpstream(
  deps: Deps,
  caller: Caller,
  project: ProjectRow | null,
  upstreamId: string,
  body: SetModelUpstreamBody,
): Promise<ModelUpstream> {
  const owner = project?.projectId ?? null;
  if (!new RegExp(UPSTREAM_ID).test(upstreamId))
    throw invalid("id", "must be 1 to 64 letters, digits, dots, dashes and underscores");
  const url = checkUrl(deps, owner, body.url);
  const models = body.models ?? null;
  for (const [index, model] of (models ?? []).entries()) checkModel(model, index, models ?? []);
  return await deps.db.transaction(async (tx) => {
    await lockUpstreams(tx, owner);
    await requireRoom(tx, owner, upstreamId);
    const key =
      body.key === undefined
        ? await storedKey(tx, owner, upstreamId, url)
        : sealKey(deps.keys, { owner, id: upstreamId, url }, body.key);
    const values = {
      format: body.format,
      url,
      key,
      models,
      createdBy: caller.userId,
      updatedAt: deps.clock(),
    };
    const [row] = await tx
      .insert(modelUpstreams)
      .values({ projectId: owner, upstreamId, ...values })
      .onConflictDoUpdate({ ...uniqueOf(owner), set: values })
      .returning();
    if (!row) throw new Error("the insert of an upstream returned no row");
    // where the server sends its calls is shown to operators only; the entry, to all managers of an account
    const details = {
      ...(owner !== null && { url }),
      format: body.format,
      key_given: body.key !== undefined,
    };
    await audit(tx, caller, upstreamEntry("model_upstream.set", project, upstreamId, details));
    return await toWire(deps, tx, row);
  });
}

/** What the audit log has of an upstream: one of the server belongs to no project. */
export function upstreamEntry(
  action: "model_upstream.set" | "model_upstream.removed",
  project: ProjectRow | null,
  upstreamId: string,
  details: Record<string, unknown> = {},
): AuditEntry {
  return {
    action,
    target: upstreamId,
    details: { ...details, of: project === null ? "server" : "project" },
    ...(project && { project }),
  };
}

/** What makes an id unique. */
function uniqueOf(owner: Owner) {
  return owner === null
    ? { target: modelUpstreams.upstreamId, targetWhere: isNull(modelUpstreams.projectId) }
    : { target: [modelUpstreams.projectId, modelUpstreams.upstreamId] };
}

/** An operator may name an address of the server's network. */
function checkUrl({ config }: Pick<Deps, "config">, owner: Owner, text: string): string {
  const url = requireOutboundUrl(owner === null ? { allowPrivateAddresses: true } : config, text);
  try {
    return upstreamUrl(url, "The URL");
  } catch (error) {
    if (error instanceof CatalogError) throw invalid("url", error.message.replace("The URL ", ""));
    throw error;
  }
}

function checkModel(model: UpstreamModel, index: number, all: readonly UpstreamModel[]): void {
  const at = `models.${index}`;
  if (all.findIndex(({ id }) => id === model.id) < index) throw invalid(`${at}.id`, "is in the list twice");
  const prices = pricesOf({ input: model.input, output: model.output, cached: model.cached_input });
  if (prices === undefined) throw invalid(at, "must have both input and output, or no prices");
}

/** Changes run one after the other, so that the limit holds. @throws not_found */
async function lockUpstreams(tx: Db, owner: Owner): Promise<void> {
  if (owner !== null) return lockProject(tx, owner);
  await tx.execute(sql`lock table ${modelUpstreams} in share row exclusive mode`);
}

async function requireRoom(tx: Db, owner: Owner, upstreamId: string): Promise<void> {
  const others = and(isOf(owner), ne(modelUpstreams.upstreamId, upstreamId));
  if ((await tx.$count(modelUpstreams, others)) < UPSTREAMS_MAX) return;
  const [whose, command] = owner === null ? ["server", "rm --server"] : ["project", "rm"];
  throw new SvcError(
    "validation_failed",
    `The ${whose} has ${UPSTREAMS_MAX} upstreams, which is the limit. Remove one with: svc models ${command}`,
  );
}

/** @throws validation_failed if there is none, or only one for another URL */
async function storedKey(tx: Db, owner: Owner, upstreamId: string, url: string): Promise<string> {
  const [stored] = await tx
    .select({ key: modelUpstreams.key })
    .from(modelUpstreams)
    .where(and(isUpstream(owner, upstreamId), eq(modelUpstreams.url, url)));
  if (stored) return stored.key;
  throw invalid("key", "is required for a new upstream, and when its URL changes");
}

function invalid(path: string, message: string): SvcError {
  return new SvcError("validation_failed", `${path} ${message}.`, { details: [{ path, message }] });
}
