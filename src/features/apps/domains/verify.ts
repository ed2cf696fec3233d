import type { AppDomain } from "../../../contract/app-domain.ts";
import type { Deps } from "../../../deps.ts";
import { countAttempt } from "../../../identity/auth/attempts.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { findAppByName } from "../rows.ts";
import { checkDomain } from "./check.ts";
import { readOne } from "./list.ts";
import { readDomain } from "./name.ts";

/** Each looks up a record at the domain's own name servers: enough for a person who waits for a change to spread. */
const OF_ACCOUNT = { name: "verify domain", max: 30, windowS: 10 * 60 };

/** Looks for the proof of a domain now. @throws not_found, validation_failed, rate_limited */
export async function verifyDomain(
  deps: Deps,
  project: ProjectRow,
  slug: string,
  text: string,
): Promise<AppDomain> {
  const domain = readDomain(deps, text);
  const app = await findAppByName(deps.db, project, slug);
  await readOne(deps, app, domain);
  await countAttempt(deps, OF_ACCOUNT, project.accountId);
  await checkDomain(deps, { accountId: project.accountId, domain });
  return await readOne(deps, app, domain);
}
