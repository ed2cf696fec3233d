import type { AppDomain } from "../../../contract/app-domain.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { findAppByName } from "../rows.ts";
import { checkDomain } from "./check.ts";
import { readOne } from "./list.ts";
import { readDomain } from "./name.ts";

/** Looks for the proof of a domain now. @throws not_found, validation_failed */
export async function verifyDomain(
  deps: Deps,
  project: ProjectRow,
  slug: string,
  text: string,
): Promise<AppDomain> {
  const domain = readDomain(deps, text);
  const app = await findAppByName(deps.db, project, slug);
  await readOne(deps, app, domain);
  await checkDomain(deps, { accountId: project.accountId, domain });
  return await readOne(deps, app, domain);
}
