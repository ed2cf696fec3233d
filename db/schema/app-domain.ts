import { sql } from "drizzle-orm";
import { index, integer, pgEnum, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { DOMAIN_PROBLEMS } from "../../src/contract/app-domain.ts";
import { accounts } from "./account.ts";
import { apps } from "./app.ts";
import { time } from "./time.ts";

export const domainProblem = pgEnum("domain_problem", DOMAIN_PROBLEMS);

/** The domains of apps. Several accounts may have one, but only one of them at a time has proved that it is theirs. */
export const appDomains = pgTable(
  "app_domains",
  {
    accountId: uuid("account_id")
      .notNull()
      .references(() => accounts.accountId, { onDelete: "cascade" }),
    /** In lower case, in ASCII (RFC 5890), without a dot at its end. */
    domain: text("domain").notNull(),
    appId: uuid("app_id")
      .notNull()
      .references(() => apps.appId, { onDelete: "cascade" }),
    /** Since when it is proven without interruption; null: it is not. */
    provenAt: time("proven_at"),
    /** When a check of a proven domain found no proof; null: the last one did. */
    lostAt: time("lost_at"),
    /** What the last check found. */
    problem: domainProblem("problem"),
    checkedAt: time("checked_at"),
    nextCheckAt: time("next_check_at").notNull(),
    /** The checks in a row that found no proof. */
    failures: integer("failures").notNull().default(0),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.domain] }),
    uniqueIndex("app_domains_proven").on(table.domain).where(sql`${table.provenAt} is not null`),
    index("app_domains_app_id").on(table.appId),
    index("app_domains_next_check_at").on(table.nextCheckAt),
  ],
);
