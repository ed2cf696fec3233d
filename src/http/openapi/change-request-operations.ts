import type { Operations } from "./operations.ts";

/** Operations of change requests, their reviews and merges. */
export const CHANGE_REQUEST_OPERATIONS = {
  "GET /v1/projects/:projectId/labels": ["listLabels", "List the labels of a project"],
  "POST /v1/projects/:projectId/labels": ["createLabel", "Create a label"],
  "PATCH /v1/projects/:projectId/labels/:name": [
    "editLabel",
    "Rename a label, or change its color or description",
  ],
  "DELETE /v1/projects/:projectId/labels/:name": ["deleteLabel", "Delete a label"],
  "GET /v1/projects/:projectId/change-request-templates": [
    "listTemplates",
    "List the templates of descriptions",
  ],
  "GET /v1/projects/:projectId/change-requests": ["listChangeRequests", "List change requests"],
  "POST /v1/projects/:projectId/change-requests": ["openChangeRequest", "Open a change request"],
  "GET /v1/projects/:projectId/change-requests/:crId": ["getChangeRequest", "Get a change request"],
  "PATCH /v1/projects/:projectId/change-requests/:crId": ["editChangeRequest", "Edit a change request"],
  "GET /v1/projects/:projectId/change-requests/:crId/diff": ["getDiff", "Get the diff of a change request"],
  "GET /v1/projects/:projectId/change-requests/:crId/timeline": [
    "listTimeline",
    "List what has happened to a change request",
  ],
  "GET /v1/projects/:projectId/change-requests/:crId/stack": [
    "listStack",
    "List the stack that a change request is part of",
  ],
  "GET /v1/projects/:projectId/change-requests/:crId/heads": [
    "listHeads",
    "List the commits that the head of a change request has had",
  ],
  "GET /v1/projects/:projectId/change-requests/:crId/commits": [
    "listChangeRequestCommits",
    "List the commits of a change request",
  ],
  "GET /v1/projects/:projectId/change-requests/:crId/code-owners": [
    "getCodeOwners",
    "Get the code owners of the files of a change request",
  ],
  "GET /v1/projects/:projectId/change-requests/:crId/turns": [
    "listChangeRequestTurns",
    "List the turns of the session that a change request came from, with the lines that they wrote",
  ],
  "GET /v1/projects/:projectId/change-requests/:crId/merge-preview": [
    "previewMerge",
    "Preview the merge of a change request",
  ],
  "GET /v1/projects/:projectId/change-requests/:crId/brief": [
    "getBrief",
    "Get what an agent is told of a change request",
  ],
  "GET /v1/projects/:projectId/change-requests/:crId/manifest": [
    "checkManifest",
    "Compare the manifest with that of the base branch",
  ],
  "POST /v1/projects/:projectId/change-requests/:crId/merge": [
    "mergeChangeRequest",
    "Merge a change request",
  ],
  "POST /v1/projects/:projectId/change-requests/:crId/revert": [
    "revertChangeRequest",
    "Open a change request that reverts a merged one",
  ],
  "DELETE /v1/projects/:projectId/change-requests/:crId/queue": [
    "leaveMergeQueue",
    "Remove a change request from the merge queue",
  ],
  "GET /v1/projects/:projectId/queue": ["listMergeQueue", "List the merge queue of a branch"],
  "PUT /v1/projects/:projectId/change-requests/:crId/auto-merge": ["enableAutoMerge", "Turn auto-merge on"],
  "DELETE /v1/projects/:projectId/change-requests/:crId/auto-merge": [
    "disableAutoMerge",
    "Turn auto-merge off",
  ],
  "POST /v1/projects/:projectId/change-requests/:crId/send-to-session": [
    "sendCommentsToSession",
    "Send review comments to the session",
  ],
  "POST /v1/projects/:projectId/change-requests/:crId/update-branch": [
    "updateBranch",
    "Merge the base branch into the head branch",
  ],
  "POST /v1/projects/:projectId/change-requests/:crId/resolve-conflicts": [
    "resolveConflicts",
    "Ask the session to resolve the conflicts",
  ],
  "POST /v1/projects/:projectId/change-requests/:crId/reviews": [
    "submitReview",
    "Submit a review: a verdict, a summary and comments at once",
  ],
  "POST /v1/projects/:projectId/change-requests/:crId/approve": [
    "approveChangeRequest",
    "Approve a change request",
  ],
  "DELETE /v1/projects/:projectId/change-requests/:crId/approve": [
    "withdrawApproval",
    "Withdraw an approval",
  ],
  "POST /v1/projects/:projectId/change-requests/:crId/request-changes": [
    "requestChanges",
    "Request changes on a change request",
  ],
  "DELETE /v1/projects/:projectId/change-requests/:crId/request-changes": [
    "withdrawRequestForChanges",
    "Withdraw a request for changes",
  ],
  "DELETE /v1/projects/:projectId/change-requests/:crId/request-changes/:userId": [
    "dismissRequestForChanges",
    "Dismiss the request for changes of another person",
  ],
  "GET /v1/projects/:projectId/change-requests/:crId/apps": [
    "listPreviews",
    "List the previews of a change request",
  ],
  "GET /v1/projects/:projectId/change-requests/:crId/apps/:slug": ["getPreview", "Get a preview"],
  "POST /v1/projects/:projectId/change-requests/:crId/apps/:slug/deploy": [
    "deployPreview",
    "Deploy a preview again",
  ],
  "GET /v1/projects/:projectId/change-requests/:crId/apps/:slug/logs": [
    "getPreviewLogs",
    "Get the log of a preview",
  ],
  "POST /v1/projects/:projectId/change-requests/:crId/apps/:slug/preview": [
    "createPreviewLink",
    "Create a link to a preview",
  ],
} as const satisfies Operations;
