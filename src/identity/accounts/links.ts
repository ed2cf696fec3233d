import { randomBytes } from "node:crypto";
import { lt } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { links } from "../../../db/schema/index.ts";
import { LINK_PREFIX } from "../../contract/token.ts";
import type { Keys } from "../../keys.ts";

export type LinkRow = typeof links.$inferSelect;

/**
 * Creates a one-time link. Only the URL has its token; the database stores a keyed hash.
 * @param site where people reach the server, without a trailing slash
 */
export async function makeLink(
  db: Db,
  keys: Keys,
  site: string,
  wanted: Omit<typeof links.$inferInsert, "hash" | "linkId" | "createdAt">,
): Promise<{ url: string; row: LinkRow }> {
  await db.delete(links).where(lt(links.expiresAt, new Date()));
  const token = LINK_PREFIX + randomBytes(32).toString("base64url");
  const [row] = await db
    .insert(links)
    .values({ ...wanted, hash: keys.hashToken(token) })
    .returning();
  if (!row) throw new Error("the insert of a link returned no row");
  return { url: `${site}/welcome?token=${token}`, row };
}
