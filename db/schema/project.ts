import {
  boolean,
  doublePrecision,
  index,
  integer,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { DEFAULT_METHODS, type MergeMethod } from "../../src/contract/merge-method.ts";
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
    /** Unique on the server: it is part of host names. */
    slug: text("slug").notNull(),
    /** Null: svc hosts the repository. */
    repoUrl: text("repo_url"),
    defaultBranch: text("default_branch").notNull(),
    /** Former default branches: they stay protected until an owner or admin removes them. */
    formerDefaultBranches: text("former_default_branches").array().notNull().default([]),
    manifestPath: text("manifest_path").notNull().default("svc.toml"),
    /** The host credential, sealed: AES-256-GCM under the project's own key. */
    gitCredential: text("git_credential"),
    /** Names the repository's folder. It changes with `repo_url`, so that no object of the old repository is served. */
    mirrorId: uuid("mirror_id").notNull().defaultRandom(),
    /** The number of the last change request; numbers are never reused. */
    lastChangeRequestNumber: integer("last_change_request_number").notNull().default(0),
    /** The protection rules of the last valid manifest on the default branch, and its commit. */
    requiredApprovals: integer("required_approvals").notNull().default(0),
    selfApproval: boolean("self_approval").notNull().default(false),
    requireCodeOwnerReview: boolean("require_code_owner_review").notNull().default(false),
    requiredChecks: text("required_checks").array().notNull().default([]),
    protectedBranches: text("protected_branches").array().notNull().default([]),
    protectedTags: text("protected_tags").array().notNull().default([]),
    /** The merge methods that it allows, the default first. */
    mergeMethods: text("merge_methods")
      .array()
      .$type<MergeMethod[]>()
      .notNull()
      .default([...DEFAULT_METHODS]),
    /** Whether merges go through a queue, which tests the merged result, and how long its checks may take. */
    mergeQueue: boolean("merge_queue").notNull().default(false),
    mergeTimeoutMinutes: integer("merge_timeout_minutes").notNull().default(60),
    policyCommit: text("policy_commit"),
    /** US dollars that models may cost: a month, and each session in all. Null: only the account's limits apply. */
    modelBudget: doublePrecision("model_budget"),
    modelSessionBudget: doublePrecision("model_session_budget"),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [
    index("projects_account_id").on(table.accountId),
    uniqueIndex("projects_slug_unique").on(table.slug),
  ],
);
