import { boolean, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { accounts } from "./account.ts";
import { time } from "./time.ts";

export const projects = pgTable(
  "projects",
  {
    projectId: uuid("project_id").primaryKey().defaultRandom(),
    accountId: uuid("account_id")
      .notNull()
      .references(() => accounts.accountId, { onDelete: "cascade" }),
    name: text("name").notNull(),
    /** Unique on the server: preview host names are made of it. */
    slug: text("slug").notNull(),
    /** Null: svc hosts the repository. */
    repoUrl: text("repo_url"),
    defaultBranch: text("default_branch").notNull(),
    /** Branches that were the default one: they stay protected until an owner or admin drops them. */
    formerDefaultBranches: text("former_default_branches").array().notNull().default([]),
    manifestPath: text("manifest_path").notNull().default("svc.toml"),
    /** The host credential, sealed: AES-256-GCM under the project's own key. */
    gitCredential: text("git_credential"),
    /** Names the repository's folder. It changes with `repo_url`, so that no object of the old repository is served as the new one's. */
    mirrorId: uuid("mirror_id").notNull().defaultRandom(),
    /** The number that the last change request got; numbers are never given twice. */
    lastChangeRequestNumber: integer("last_change_request_number").notNull().default(0),
    /** What the manifest on the default branch protected when it could be read last, and at which commit that was. */
    requiredApprovals: integer("required_approvals").notNull().default(0),
    selfApproval: boolean("self_approval").notNull().default(false),
    protectedBranches: text("protected_branches").array().notNull().default([]),
    protectedTags: text("protected_tags").array().notNull().default([]),
    policyCommit: text("policy_commit"),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [
    index("projects_account_id").on(table.accountId),
    uniqueIndex("projects_slug_unique").on(table.slug),
  ],
);
