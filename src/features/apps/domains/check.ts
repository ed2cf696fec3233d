import { eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { appDomains, apps } from "../../../../db/schema/index.ts";
import type { DomainProblem } from "../../../contract/app-domain.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import { GRACE_MS } from "./grace.ts";
import { notifyOfLoss } from "./lost.ts";
import { findProofs, recordOf } from "./proof.ts";
import { type DomainKey, type DomainRow, isIt } from "./rows.ts";

/** A proven domain is checked this often. */
const PROVEN_MS = 6 * 60 * 60_000;
/** The first pause after a check that found no proof; it doubles up to the longest. */
const FIRST_MS = 60_000;
const LONGEST_MS = 24 * 60 * 60_000;
/** For a domain that is served: well within its grace, so that a record that is back is noticed in time. */
const LONGEST_SERVED_MS = 60 * 60_000;

/**
 * Looks for the proof of a domain, and records what it finds: the domain is proven, or the proof is missing, or another
 * account has proved the domain. An account that has lost its proof loses the domain to the one that has it now.
 */
export async function checkDomain(deps: Deps, key: DomainKey): Promise<void> {
  const proofs = await findProofs(deps, key.domain);
  await deps.db.transaction((tx) => record(deps, tx, key, proofs));
}

async function record(deps: Deps, tx: Db, key: DomainKey, proofs: readonly string[] | null): Promise<void> {
  // of all accounts: two that check at once run one after the other
  const rows = await tx
    .select()
    .from(appDomains)
    .where(eq(appDomains.domain, key.domain))
    .orderBy(appDomains.accountId)
    .for("update");
  const row = rows.find(({ accountId }) => accountId === key.accountId);
  if (!row) return;
  const isProven = (one: DomainKey) => proofs?.includes(recordOf(deps, one).value) ?? false;
  const owner = rows.find(({ accountId, provenAt }) => accountId !== key.accountId && provenAt !== null);
  const problem: DomainProblem | null =
    proofs === null ? "unanswered" : !isProven(row) ? "missing" : owner && isProven(owner) ? "taken" : null;
  const changed = problem === null ? proven(deps, row) : unproven(deps, row, problem);
  if (problem === null && owner) {
    const lost = { provenAt: null, lostAt: null, problem: "missing" } as const;
    await tx.update(appDomains).set(lost).where(isIt(owner));
    await notifyOfLoss(tx, owner, lost, changed.checkedAt);
  }
  await tx.update(appDomains).set(changed).where(isIt(row));
  await notifyOfLoss(tx, row, changed, changed.checkedAt);
  const isOther = problem !== row.problem || (changed.provenAt === null) !== (row.provenAt === null);
  if (isOther) await announce(tx, row);
}

function proven({ clock }: Pick<Deps, "clock">, { provenAt }: DomainRow) {
  const now = clock();
  return {
    provenAt: provenAt ?? now,
    lostAt: null,
    problem: null,
    checkedAt: now,
    nextCheckAt: new Date(now.getTime() + PROVEN_MS),
    failures: 0,
  };
}

/** A resolver that does not answer proves nothing, also not that the record is gone. */
function unproven({ clock }: Pick<Deps, "clock">, row: DomainRow, problem: DomainProblem) {
  const now = clock();
  const lostAt = row.provenAt === null ? null : (row.lostAt ?? (problem === "unanswered" ? null : now));
  const isOver = lostAt !== null && now.getTime() >= lostAt.getTime() + GRACE_MS;
  const longest = row.provenAt === null ? LONGEST_MS : LONGEST_SERVED_MS;
  const pause = Math.min(FIRST_MS * 2 ** Math.min(row.failures, 20), longest);
  return {
    provenAt: isOver ? null : row.provenAt,
    lostAt: isOver ? null : lostAt,
    problem,
    checkedAt: now,
    nextCheckAt: new Date(now.getTime() + pause),
    failures: row.failures + 1,
  };
}

/** Publishes a change of an app's domains. @param tx this must be its last statement */
export async function announce(tx: Db, { appId }: Pick<DomainRow, "appId">): Promise<void> {
  const [app] = await tx
    .select({ projectId: apps.projectId, slug: apps.slug })
    .from(apps)
    .where(eq(apps.appId, appId));
  if (app) await publish(tx, app.projectId, { type: "app", id: app.slug, action: "changed" });
}
