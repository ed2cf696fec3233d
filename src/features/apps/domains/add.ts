import { eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { appDomains, apps } from "../../../../db/schema/index.ts";
import type { AppDomain } from "../../../contract/app-domain.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import { lockAccount } from "../../../identity/accounts/lock.ts";
import { audit } from "../../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { findAppByName } from "../rows.ts";
import { announce, checkDomain } from "./check.ts";
import { readOne } from "./list.ts";
import { readDomain } from "./name.ts";

/** More than the names of one site in its languages and spellings. */
const PER_APP = 10;
/** Each is looked up a few times a day, and has a certificate. */
const PER_ACCOUNT = 100;

/**
 * Adds a domain to an app, and looks for its proof. One that the app has already is checked again.
 * @throws not_found, validation_failed, domain_exists, too_many_domains
 */
export async function addDomain(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  slug: string,
  text: string,
): Promise<AppDomain> {
  const domain = readDomain(deps, text);
  const app = await findAppByName(deps.db, project, slug);
  const key = { accountId: project.accountId, domain };
  await deps.db.transaction(async (tx) => {
    await lockAccount(tx, project.accountId);
    const has = await tx
      .select({ domain: appDomains.domain, appId: appDomains.appId, slug: apps.slug })
      .from(appDomains)
      .innerJoin(apps, eq(apps.appId, appDomains.appId))
      .where(eq(appDomains.accountId, project.accountId));
    const known = has.find((row) => row.domain === domain);
    if (known?.appId === app.appId) return;
    if (known) throw exists(domain, known.slug);
    refuseMore(has.length, PER_ACCOUNT, "The account");
    refuseMore(has.filter(({ appId }) => appId === app.appId).length, PER_APP, "The app");
    await audit(tx, caller, { action: "domain.added", target: domain, project, details: { app: slug } });
    await insert(deps, tx, { ...key, appId: app.appId });
  });
  await checkDomain(deps, key);
  return await readOne(deps, app, domain);
}

async function insert(
  { clock }: Deps,
  tx: Db,
  row: { accountId: string; domain: string; appId: string },
): Promise<void> {
  const now = clock();
  await tx.insert(appDomains).values({ ...row, nextCheckAt: now, createdAt: now });
  await announce(tx, row);
}

function exists(domain: string, slug: string): SvcError {
  const sentence = `Your account has added ${domain} to the app ${slug} already. Remove it there first: svc apps domains rm ${slug} ${domain}`;
  return new SvcError("domain_exists", sentence);
}

function refuseMore(count: number, max: number, whose: string): void {
  if (count < max) return;
  throw new SvcError("too_many_domains", `${whose} has ${max} domains, the limit. Remove one first.`);
}
