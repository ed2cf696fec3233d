import { eq } from "drizzle-orm";
import { accounts } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { shorten } from "../../http/text.ts";
import type { ProjectRow } from "./caller.ts";

/**
 * Checks the owner in a path of GitHub's shape: the slug of the project's account, in upper or lower case.
 * @throws not_found
 */
export async function requireOwner(
  { db }: Pick<Deps, "db">,
  { accountId, slug }: ProjectRow,
  owner: string,
): Promise<void> {
  const [account] = await db
    .select({ slug: accounts.slug })
    .from(accounts)
    .where(eq(accounts.accountId, accountId));
  if (account?.slug === owner.toLowerCase()) return;
  throw new SvcError(
    "not_found",
    `The account "${shorten(owner)}" has no project "${slug}". List your projects with: svc projects ls`,
  );
}
