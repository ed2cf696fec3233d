import { jsonb, pgTable, text, uuid } from "drizzle-orm/pg-core";
import type { Ownership } from "../../src/contract/code-owners.ts";
import { changeRequests } from "./change-request.ts";

/**
 * The lines of the CODEOWNERS file that the changes of a change request fall under, as they were read last: a list must not
 * wait for git. A merge reads them again.
 */
export const changeRequestOwners = pgTable("change_request_owners", {
  crId: uuid("cr_id")
    .primaryKey()
    .references(() => changeRequests.crId, { onDelete: "cascade" }),
  /** The commits whose difference was read; the file is that of the base. */
  baseSha: text("base_sha").notNull(),
  headSha: text("head_sha").notNull(),
  /** The ids of those whose review svc has requested: each once. */
  requested: text("requested").array().notNull().default([]),
  ownership: jsonb("ownership").$type<Ownership>().notNull(),
});
