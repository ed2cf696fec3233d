import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  doublePrecision,
  index,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { ROLES } from "../../src/contract/role.ts";
import { time } from "./time.ts";

export const memberRole = pgEnum("member_role", ROLES);

export const users = pgTable(
  "users",
  {
    userId: uuid("user_id").primaryKey().defaultRandom(),
    email: text("email").notNull(),
    name: text("name").notNull(),
    /** argon2id, in PHC form; null for a user who signs in by token only. */
    passwordHash: text("password_hash"),
    /** `<host>:<id>` of the GitHub user who may sign in as this one. */
    githubId: text("github_id").unique("users_github_id_unique"),
    /** Whether the address is verified: by an operator, an owner's invitation or GitHub. */
    emailProven: boolean("email_proven").notNull().default(true),
    /** Whether the user manages the server's own settings. It grants nothing in accounts and projects. */
    isOperator: boolean("is_operator").notNull().default(false),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("users_email_unique").on(table.email),
    check("users_email_lowercase", sql`${table.email} = lower(${table.email})`),
  ],
);

export const accounts = pgTable("accounts", {
  accountId: uuid("account_id").primaryKey().defaultRandom(),
  name: text("name").notNull(),
  slug: text("slug").notNull().unique("accounts_slug_unique"),
  tier: text("tier").notNull().default("selfhost"),
  /** US dollars that models may cost: a month, and each session in all. Null: no limit. */
  modelBudget: doublePrecision("model_budget"),
  modelSessionBudget: doublePrecision("model_session_budget"),
  createdAt: time("created_at").notNull().defaultNow(),
});

export const accountMembers = pgTable(
  "account_members",
  {
    accountId: uuid("account_id")
      .notNull()
      .references(() => accounts.accountId, { onDelete: "cascade" }),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    role: memberRole("role").notNull(),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.userId] }),
    index("account_members_user_id").on(table.userId),
  ],
);
