import { Type } from "@sinclair/typebox";
import {
  type ChangeRequest,
  CR_STATUSES,
  crStatusFilter,
  openChangeRequestBody,
} from "../../../contract/change-request.ts";
import { SvcError } from "../../../contract/errors.ts";
import { PATH_MAX_BYTES, SEARCH_MAX } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import { excerptDiff } from "../../../features/change-requests/diff-excerpt.ts";
import { openChangeRequest } from "../../../features/change-requests/open.ts";
import { previewMerge } from "../../../features/change-requests/preview.ts";
import { getChangeRequest, listChangeRequests } from "../../../features/change-requests/read.ts";
import { pageUrl } from "../../../features/projects/page-url.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { type ProjectRequest, projectTool, type Tool } from "../tool.ts";
import { authorText, cut, numberField, pageFields, pageOf } from "./shown.ts";

/** Characters of a description. */
const DESCRIPTION_MAX = 16_000;
/** Conflicting paths that are listed. */
const CONFLICTS_SHOWN = 100;

const { title, description, head_ref, base_ref } = openChangeRequestBody.properties;

export const changeRequestTools: Tool[] = [
  projectTool({
    name: "list_change_requests",
    title: "List change requests",
    description:
      "Lists the change requests of the project, the newest first: proposals to merge a branch into another.",
    isRead: true,
    callers: "all",
    fields: {
      status: Type.Optional(crStatusFilter),
      search: Type.Optional(
        Type.String({
          maxLength: SEARCH_MAX,
          description:
            "Words that the title or a branch's name has, #number, or qualifiers such as author:@me checks:failure sort:updated-desc",
        }),
      ),
      ...pageFields,
    },
    async run(deps, { caller, project }, { status = "open", search, ...rest }) {
      const filter = { status, q: search };
      const { change_requests: rows, ...next } = await listChangeRequests(
        deps,
        caller,
        project,
        filter,
        pageOf(rest),
      );
      return { change_requests: rows.map((row) => shown(deps, project, row)), ...next };
    },
  }),
  projectTool({
    name: "show_change_request",
    title: "Show a change request",
    description:
      "Shows a change request: its description, its branches and commits, approvals, and whether it merges cleanly now, or which paths conflict. Read the changes with show_change_request_diff, the review with list_comments.",
    isRead: true,
    callers: "all",
    fields: { number: numberField },
    run: (deps, request, { number }) => show(deps, request, number),
  }),
  projectTool({
    name: "open_change_request",
    title: "Open a change request",
    description:
      "Proposes to merge a branch into another, usually the default branch. Push the branch first. People review and merge it. If the result is a conflict, merge the base branch into your branch and push.",
    isRead: false,
    callers: "all",
    fields: { title, head_ref, base_ref, description },
    async run(deps, { caller, project }, body) {
      const origin = caller.kind === "project" && caller.sessionId !== null ? caller.sessionId : undefined;
      const opened = await openChangeRequest(deps, caller, project, {
        ...body,
        ...(origin !== undefined && { session_id: origin }),
      });
      return shown(deps, project, opened);
    },
  }),
  projectTool({
    name: "show_change_request_diff",
    title: "Show the diff of a change request",
    description:
      "Shows the changes of a change request: the list of changed files, then a patch of as many whole files as fit. If the patch ends early, the first line says so: request the other files one by one with `path`.",
    isRead: true,
    callers: "all",
    fields: {
      number: numberField,
      path: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: PATH_MAX_BYTES,
          description: "Only this file, by its path in the list",
        }),
      ),
    },
    run: (deps, { project }, { number, path }) => excerptDiff(deps, project, String(number), path ?? null),
  }),
];

async function show(deps: Deps, { project }: ProjectRequest, number: number) {
  const { change_request: found } = await getChangeRequest(deps, project, String(number));
  const { head_commit_sha, base_commit_sha, merge_commit_sha, merge_method } = found;
  const { merged_at, closed_at, stale, approvals } = found;
  return {
    ...shown(deps, project, found),
    description: cut(found.description, DESCRIPTION_MAX),
    head_commit_sha,
    base_commit_sha,
    merge_commit_sha,
    merge_method,
    merged_at,
    closed_at,
    stale,
    approved_by: approvals
      .filter(({ state }) => state === "approved")
      .map(({ name, counts }) => ({ name, counts })),
    changes_requested: approvals
      .filter(({ state }) => state === "changes_requested")
      .map(({ name, body }) => ({ name, body: cut(body ?? "", DESCRIPTION_MAX) })),
    ...(found.status === CR_STATUSES[0] && { merge: await mergeState(deps, project, number) }),
  };
}

/** What a merge would do; why that is not known, if the repository fails. */
async function mergeState(deps: Deps, project: ProjectRow, number: number) {
  try {
    const { can_merge, is_up_to_date, conflicts } = await previewMerge(deps, project, String(number));
    return { can_merge, is_up_to_date, conflicts: conflicts.slice(0, CONFLICTS_SHOWN) };
  } catch (error) {
    if (error instanceof SvcError) return { error: error.message, code: error.code };
    throw error;
  }
}

function shown(deps: Deps, project: ProjectRow, row: ChangeRequest): Record<string, unknown> {
  return {
    number: row.number,
    title: row.title,
    status: row.status,
    draft: row.draft,
    head_ref: row.head_ref,
    base_ref: row.base_ref,
    author: authorText(row.author),
    origin_session_id: row.origin_session_id,
    approvals: row.approvals.filter(({ counts }) => counts).length,
    required_approvals: row.required_approvals,
    ...(row.code_owner_reviews && { code_owner_reviews: row.code_owner_reviews }),
    labels: row.labels.map(({ name }) => name),
    assignees: row.assignees.map(({ name }) => name),
    requested_reviewers: row.requested_reviewers.map(({ name }) => name),
    checks: row.checks,
    updated_at: row.updated_at,
    url: pageUrl(deps, project, `change-requests/${row.number}`),
  };
}
