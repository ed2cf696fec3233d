import { type SQL, sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { CR_STATUSES } from "../../src/contract/change-request.ts";
import { MERGE_METHODS } from "../../src/contract/merge-method.ts";
import { accounts, users } from "./account.ts";
import { actor } from "./actor.ts";
import { projects } from "./project.ts";
import { projectSessions } from "./session.ts";
import { time } from "./time.ts";

export const crStatus = pgEnum("cr_status", CR_STATUSES);
export const mergeMethod = pgEnum("merge_method", MERGE_METHODS);

/** Spec 2.1, column by column. */
export const changeRequests = pgTable(
  "change_requests",
  {
    crId: uuid("cr_id").primaryKey().defaultRandom(),
    accountId: uuid("account_id")
      .notNull()
      .references(() => accounts.accountId, { onDelete: "cascade" }),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    number: integer("number").notNull(),
    title: text("title").notNull(),
    description: text("description").notNull().default(""),
    baseRef: text("base_ref").notNull(),
    headRef: text("head_ref").notNull(),
    status: crStatus("status").notNull().default("open"),
    /** Not to be merged yet. */
    draft: boolean("draft").notNull().default(false),
    headCommitSha: text("head_commit_sha"),
    baseCommitSha: text("base_commit_sha"),
    /** The head whose checks were enqueued last; null: none yet. */
    checkedSha: text("checked_sha"),
    /** The head whose code owners were requested as reviewers last; null: none yet. */
    ownersSha: text("owners_sha"),
    originSessionId: text("origin_session_id").references(() => projectSessions.sessionId, {
      onDelete: "set null",
    }),
    createdBy: uuid("created_by")
      .notNull()
      .references(() => users.userId),
    createdActor: actor("created_actor"),
    mergedAt: time("merged_at"),
    mergedBy: uuid("merged_by").references(() => users.userId),
    mergedActor: actor("merged_actor"),
    mergeCommitSha: text("merge_commit_sha"),
    /** The number of the merged one of this project that it undoes. */
    reverts: integer("reverts"),
    /** Null unless svc merged it. */
    mergeMethod: mergeMethod("merge_method"),
    closedAt: time("closed_at"),
    closedBy: uuid("closed_by").references(() => users.userId),
    closedActor: actor("closed_actor"),
    /** It was opened by an agent, for the user. */
    openedByAgent: boolean("opened_by_agent").notNull().default(false),
    /** The number of the last comment. */
    lastCommentNumber: integer("last_comment_number").notNull().default(0),
    metadata: jsonb("metadata").$type<Record<string, unknown>>().notNull().default({}),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [
    index("change_requests_account_id").on(table.accountId),
    index("change_requests_project_id").on(table.projectId),
    index("change_requests_project_id_status").on(table.projectId, table.status),
    // the lists of a status, in their order
    index("change_requests_project_id_status_number").on(table.projectId, table.status, table.number),
    // those of a branch that is deleted
    index("change_requests_project_id_head_ref").on(table.projectId, table.headRef),
    index("change_requests_project_id_updated_at").on(table.projectId, table.updatedAt, table.number),
    // without a list of pending rows, which every search would read
    index("change_requests_terms").using("gin", searchTermsOf(table)).with({ fastupdate: false }),
    uniqueIndex("change_requests_project_id_number_unique").on(table.projectId, table.number),
    // those that wait for a person, in all projects
    index("change_requests_open_of_account")
      .on(table.accountId, table.updatedAt)
      .where(sql`${table.status} = 'open'`),
    index("change_requests_open_of_user")
      .on(table.createdBy, table.updatedAt)
      .where(sql`${table.status} = 'open'`),
    index("change_requests_origin_session_id").on(table.originSessionId),
    index("change_requests_reverts")
      .on(table.projectId, table.reverts)
      .where(sql`${table.reverts} is not null`),
    index("change_requests_unchecked")
      .on(table.updatedAt)
      .where(
        sql`${table.status} = 'open' and ${table.headCommitSha} is not null and ${table.checkedSha} is distinct from ${table.headCommitSha}`,
      ),
    index("change_requests_owners_not_requested")
      .on(table.updatedAt)
      .where(
        sql`${table.status} = 'open' and not ${table.draft} and ${table.headCommitSha} is not null and ${table.ownersSha} is distinct from ${table.headCommitSha}`,
      ),
    check("change_requests_title_present", sql`${table.title} <> ''`),
    check("change_requests_reverts_an_earlier_one", sql`${table.reverts} < ${table.number}`),
    check("change_requests_two_branches", sql`${table.headRef} <> ${table.baseRef}`),
    check(
      "change_requests_merged_is_whole",
      sql`${table.status} <> 'merged' or (${table.mergedAt} is not null and ${table.mergeCommitSha} is not null
        and ${table.headCommitSha} is not null and ${table.baseCommitSha} is not null)`,
    ),
    check(
      "change_requests_closed_is_dated",
      sql`(${table.status} = 'closed') = (${table.closedAt} is not null)`,
    ),
  ],
);

type Searched = Record<
  | "projectId"
  | "number"
  | "status"
  | "draft"
  | "createdBy"
  | "originSessionId"
  | "title"
  | "headRef"
  | "baseRef"
  | "createdAt"
  | "updatedAt"
  | "mergedAt",
  AnyPgColumn
>;

/**
 * The hashes of what a search can ask of a row, of its project alone: parts of one to three characters of the title and the
 * branches, and its other columns. The function is written in the migration that creates the index; what it is given here
 * must be what the index is given, or the planner does not use that.
 */
function searchTermsOf(table: Searched): SQL {
  const given = [
    ...[table.projectId, table.number, table.status, table.draft, table.createdBy, table.originSessionId],
    ...[table.title, table.headRef, table.baseRef, table.createdAt, table.updatedAt, table.mergedAt],
  ];
  return sql`change_request_terms(${sql.join(given, sql`, `)})`;
}

/** The expression of the index `change_requests_terms`. */
export const changeRequestTerms = searchTermsOf(changeRequests);

/**
 * The commits that the head of a change request has had, in order (contract: Change requests). The mirror keeps each as
 * `refs/cr/<number of the change request>/head/<number>`.
 */
export const changeRequestHeads = pgTable(
  "change_request_heads",
  {
    crId: uuid("cr_id")
      .notNull()
      .references(() => changeRequests.crId, { onDelete: "cascade" }),
    number: integer("number").notNull(),
    commitSha: text("commit_sha").notNull(),
    /** The base at that time. */
    baseCommitSha: text("base_commit_sha").notNull(),
    seenAt: time("seen_at").notNull(),
    /** Whether the mirror keeps it; null: not yet, false: it was gone before svc could fetch it. */
    kept: boolean("kept"),
  },
  (table) => [
    primaryKey({ columns: [table.crId, table.number] }),
    index("change_request_heads_not_kept").on(table.crId).where(sql`${table.kept} is null`),
  ],
);

/**
 * A merge that is about to be pushed, written before the push. The row stays until the repository shows whether the
 * push happened, so that a crash at any moment is resolved from the repository.
 */
export const mergeIntents = pgTable(
  "merge_intents",
  {
    crId: uuid("cr_id")
      .notNull()
      .references(() => changeRequests.crId, { onDelete: "cascade" }),
    mergeSha: text("merge_sha").notNull(),
    baseSha: text("base_sha").notNull(),
    headSha: text("head_sha").notNull(),
    method: mergeMethod("method").notNull().default("merge"),
    fastForward: boolean("fast_forward").notNull(),
    message: text("message").notNull(),
    mergedBy: uuid("merged_by")
      .notNull()
      .references(() => users.userId),
    mergedActor: actor("merged_actor"),
    /** The merge commit's date. */
    intendedAt: time("intended_at").notNull(),
    /** Until then a live process may be pushing; after that, only an orphaned one. */
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.crId, table.mergeSha] })],
);

/** The verdict on a pair of commits never changes, so it does not expire (contract: Change requests). */
export const mergeVerdicts = pgTable(
  "merge_verdicts",
  {
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    baseSha: text("base_sha").notNull(),
    headSha: text("head_sha").notNull(),
    gitVersion: text("git_version").notNull(),
    mergeBase: text("merge_base"),
    isUpToDate: boolean("is_up_to_date").notNull(),
    canMerge: boolean("can_merge").notNull(),
    canFastForward: boolean("can_fast_forward").notNull(),
    conflicts: jsonb("conflicts").$type<string[]>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.baseSha, table.headSha, table.gitVersion] })],
);
