import { and, asc, eq, ne } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { labels } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import { HIDDEN } from "../../../contract/hidden.ts";
import {
  type CreateLabelBody,
  type EditLabelBody,
  LABEL_COLOR,
  type Label,
} from "../../../contract/label.ts";
import { LABEL_DESCRIPTION_MAX, LABEL_NAME_MAX, LABELS_MAX } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import { shorten, storable } from "../../../http/text.ts";
import { audit } from "../../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { lockProject } from "../../projects/lock.ts";
import { keyOf, type LabelRow } from "./named.ts";

/** The labels of a project, by name. */
export async function listLabels(deps: Deps, { projectId }: ProjectRow): Promise<{ labels: Label[] }> {
  const rows = await deps.db
    .select()
    .from(labels)
    .where(eq(labels.projectId, projectId))
    .orderBy(asc(labels.key));
  return { labels: rows.map(toWire) };
}

/** @throws validation_failed, label_exists */
export async function createLabel(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { name, color = LABEL_COLOR, description }: CreateLabelBody,
): Promise<Label> {
  const { projectId } = project;
  const values = { ...nameOf(name), color: color.toLowerCase(), description: descriptionOf(description) };
  return await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    await requireFree(tx, projectId, values.name, null);
    if ((await tx.$count(labels, eq(labels.projectId, projectId))) >= LABELS_MAX)
      throw new SvcError(
        "validation_failed",
        `The project has ${LABELS_MAX} labels, which is the limit. Remove one with: svc labels rm`,
      );
    const [row] = await tx
      .insert(labels)
      .values({ projectId, ...values })
      .returning();
    if (!row) throw new Error("the insert of a label returned no row");
    await audit(tx, caller, { action: "label.created", target: row.name, project });
    await publish(tx, projectId, { type: "label", id: row.name, action: "created" });
    return toWire(row);
  });
}

/** Changes a label, also on the change requests that have it. @throws not_found, validation_failed, label_exists */
export async function editLabel(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  wanted: string,
  { name, color, description }: EditLabelBody,
): Promise<Label> {
  const { projectId } = project;
  const values = {
    ...(name !== undefined && nameOf(name)),
    ...(color !== undefined && { color: color.toLowerCase() }),
    ...(description !== undefined && { description: descriptionOf(description) }),
  };
  return await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    const { labelId } = await findLabel(tx, projectId, wanted);
    if (name !== undefined) await requireFree(tx, projectId, name, labelId);
    const [row] = await tx.update(labels).set(values).where(eq(labels.labelId, labelId)).returning();
    if (!row) throw noSuchLabel(wanted);
    await audit(tx, caller, { action: "label.edited", target: wanted, project, details: toWire(row) });
    await publish(tx, projectId, { type: "label", id: row.name, action: "changed" });
    return toWire(row);
  });
}

/** Deletes a label, and takes it off the change requests that have it. @throws not_found */
export async function deleteLabel(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  wanted: string,
): Promise<{ ok: true }> {
  const { projectId } = project;
  await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    const { labelId, name } = await findLabel(tx, projectId, wanted);
    await tx.delete(labels).where(eq(labels.labelId, labelId));
    await audit(tx, caller, { action: "label.deleted", target: name, project });
    await publish(tx, projectId, { type: "label", id: name, action: "deleted" });
  });
  return { ok: true };
}

async function findLabel(tx: Db, projectId: string, name: string): Promise<LabelRow> {
  if (name.includes("\0")) throw noSuchLabel(name);
  const [row] = await tx
    .select()
    .from(labels)
    .where(and(eq(labels.projectId, projectId), eq(labels.key, keyOf(name))));
  if (!row) throw noSuchLabel(name);
  return row;
}

/** @param tx has locked the project's row @param labelId the label that is renamed @throws label_exists */
async function requireFree(tx: Db, projectId: string, name: string, labelId: string | null): Promise<void> {
  const others = labelId === null ? undefined : ne(labels.labelId, labelId);
  const [taken] = await tx
    .select({ name: labels.name })
    .from(labels)
    .where(and(eq(labels.projectId, projectId), eq(labels.key, keyOf(name)), others));
  if (taken)
    throw new SvcError(
      "label_exists",
      `The project already has the label "${taken.name}". Choose another name, or change that one with: svc labels edit`,
    );
}

function nameOf(given: string): { name: string; key: string } {
  const name = storable("name", given.trim(), LABEL_NAME_MAX * 4);
  if (name.search(HIDDEN) >= 0)
    throw new SvcError("validation_failed", "The name of a label must not contain invisible characters.");
  return { name, key: keyOf(name) };
}

const descriptionOf = (given: string | null | undefined): string | null =>
  given ? storable("description", given, LABEL_DESCRIPTION_MAX * 4) : null;

function noSuchLabel(name: string): SvcError {
  return new SvcError(
    "not_found",
    `The project has no label "${shorten(name)}". List all with: svc labels ls`,
  );
}

const toWire = ({ name, color, description }: LabelRow): Label => ({ name, color, description });
