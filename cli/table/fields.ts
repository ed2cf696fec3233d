import type { App, Deployment } from "../../src/contract/app.ts";
import type { AppDomain } from "../../src/contract/app-domain.ts";
import type {
  ChangeRequest,
  ChangeRequestDiff,
  DiffFile,
  MergedChangeRequest,
} from "../../src/contract/change-request.ts";
import type { ChangeRequestHead } from "../../src/contract/change-request-head.ts";
import type { UpdatedBranch } from "../../src/contract/change-request-update.ts";
import type { AppliedSuggestions, Comment } from "../../src/contract/comment.ts";
import type { Project } from "../../src/contract/project.ts";
import type { Branch, Commit, FileContents, TreeEntry } from "../../src/contract/repository.ts";
import type { Secret } from "../../src/contract/secret.ts";
import type { TimelineEvent } from "../../src/contract/timeline.ts";

/** All fields of `T`, for `--json`: a list with an unknown field, or without one of them, does not compile. */
export const fieldsOf =
  <T>() =>
  <const F extends readonly (keyof T)[]>(
    fields: F,
    ..._missing: Exclude<keyof T, F[number]> extends never ? [] : [Exclude<keyof T, F[number]>]
  ): F =>
    fields;

export const PROJECT_FIELDS = fieldsOf<Project>()([
  "project_id",
  "account_id",
  "name",
  "slug",
  "repo_url",
  "git_url",
  "default_branch",
  "protected_branches",
  "managed",
  "manifest_path",
  "model_budget",
  "model_session_budget",
  "created_at",
  "updated_at",
]);

export const CR_FIELDS = fieldsOf<ChangeRequest>()([
  "cr_id",
  "account_id",
  "project_id",
  "number",
  "url",
  "title",
  "description",
  "base_ref",
  "head_ref",
  "status",
  "draft",
  "head_commit_sha",
  "base_commit_sha",
  "cost",
  "tokens",
  "origin_session_id",
  "created_by",
  "author",
  "opened_by_agent",
  "opened_by_session_id",
  "mergeable",
  "merged_at",
  "merged_by",
  "merger",
  "merge_commit_sha",
  "merge_method",
  "merge_methods",
  "closed_at",
  "closed_by",
  "closer",
  "metadata",
  "open_threads",
  "labels",
  "assignees",
  "requested_reviewers",
  "created_at",
  "updated_at",
  "stale",
  "approvals",
  "auto_merge",
  "reverts",
  "reverted_by",
  "queue",
  "merge_queue",
  "required_approvals",
  "code_owner_reviews",
  "checks",
]);

export const MERGE_FIELDS = fieldsOf<MergedChangeRequest>()([...CR_FIELDS, "merge", "head_branch"]);

/** The API has the others only with `renames=pair`. */
export const FILE_FIELDS = fieldsOf<Omit<DiffFile, "previous_path" | "previous_path_base64">>()([
  "path",
  "path_base64",
  "status",
  "additions",
  "deletions",
  "binary",
]);

export const DIFF_FIELDS = fieldsOf<ChangeRequestDiff>()([
  "cr_id",
  "base_ref",
  "head_ref",
  "base_sha",
  "head_sha",
  "merge_base",
  "files",
  "files_changed",
  "additions",
  "deletions",
  "patch",
  "patch_base64",
  "truncated",
  "since",
]);

export const APPLIED_FIELDS = fieldsOf<AppliedSuggestions>()(["commit_sha", "comments"]);

export const UPDATED_FIELDS = fieldsOf<UpdatedBranch>()(["updated", "head_commit_sha", "base_commit_sha"]);

export const HEAD_FIELDS = fieldsOf<ChangeRequestHead>()([
  "number",
  "commit_sha",
  "base_commit_sha",
  "seen_at",
  "reviewed",
]);

export const TIMELINE_FIELDS = fieldsOf<TimelineEvent>()([
  "id",
  "event",
  "actor",
  "created_at",
  "user",
  "from",
  "to",
  "head",
  "commits",
  "commit_sha",
  "state",
  "body",
  "label",
  "reason",
  "number",
  "method",
  "comment_id",
  "branch",
]);

export const COMMENT_FIELDS = fieldsOf<Comment>()([
  "comment_id",
  "cr_id",
  "reply_to",
  "body",
  "path",
  "line",
  "start_line",
  "side",
  "outdated",
  "original_path",
  "original_line",
  "original_start_line",
  "quote",
  "head_commit_sha",
  "author",
  "resolved_at",
  "resolved_by",
  "created_at",
  "updated_at",
]);

export const BRANCH_FIELDS = fieldsOf<Branch>()(["name", "commit_sha", "is_default"]);

export const COMMIT_FIELDS = fieldsOf<Commit>()([
  "sha",
  "parents",
  "author",
  "committer",
  "co_authors",
  "subject",
  "body",
  "truncated",
  "verification",
]);

export const ENTRY_FIELDS = fieldsOf<TreeEntry>()([
  "name",
  "path",
  "path_base64",
  "type",
  "mode",
  "size",
  "sha",
]);

export const CONTENTS_FIELDS = fieldsOf<FileContents>()([
  "ref",
  "commit_sha",
  "path",
  "path_base64",
  "type",
  "mode",
  "size",
  "sha",
  "encoding",
  "content",
  "truncated",
]);

export const APP_FIELDS = fieldsOf<App>()([
  "app_id",
  "slug",
  "change_request",
  "name",
  "type",
  "root_path",
  "enabled",
  "access",
  "auto_deploy",
  "state",
  "error",
  "url",
  "public_url",
  "volume",
  "live",
  "next",
  "updated_at",
]);

export const DOMAIN_FIELDS = fieldsOf<AppDomain>()([
  "domain",
  "state",
  "problem",
  "record",
  "target",
  "url",
  "served_until",
  "checked_at",
  "created_at",
]);

export const DEPLOYMENT_FIELDS = fieldsOf<Deployment>()([
  "deployment_id",
  "number",
  "state",
  "reason",
  "commit",
  "previous_commit",
  "rollback_to",
  "error",
  "created_by",
  "author",
  "created_at",
  "live_at",
  "ended_at",
]);

export const SECRET_FIELDS = fieldsOf<Secret>()(["name", "for", "set_by", "created_at", "updated_at"]);
