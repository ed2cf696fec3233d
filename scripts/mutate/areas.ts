/** Source files, and the tests that must detect a change of any token of them. */
export interface Area {
  sources: readonly string[];
  /** Paths below `test/`, without `.test.ts`. */
  tests: readonly string[];
}

/** Code whose errors do the most harm: authorization, merges, schedules, message parsing. */
export const AREAS: readonly Area[] = [
  { sources: ["src/identity/auth/guard.ts"], tests: ["api/callers"] },
  { sources: ["src/identity/auth/caller.ts"], tests: ["auth/caller"] },
  { sources: ["src/identity/auth/token.ts"], tests: ["auth/token"] },
  { sources: ["src/identity/auth/attempts.ts"], tests: ["auth/attempts"] },
  { sources: ["src/identity/auth/browser.ts"], tests: ["auth/browser-session", "auth/caller"] },
  { sources: ["src/identity/auth/cookie.ts"], tests: ["auth/cookie"] },
  {
    sources: ["origin", "tool", "call-tool", "arguments"].map((name) => `src/edge/executor/${name}.ts`),
    tests: ["executor/tools"],
  },
  { sources: ["src/features/models/events.ts", "src/features/models/meter.ts"], tests: ["models/meter"] },
  {
    sources: ["paths", "request-body", "pass-whole", "send"].map((name) => `src/features/models/${name}.ts`),
    tests: ["models/gateway"],
  },
  {
    sources: ["call", "rate", "record", "usage-of"].map((name) => `src/features/models/${name}.ts`),
    tests: ["models/usage", "models/gateway"],
  },
  {
    sources: ["src/features/models/key.ts"],
    tests: ["models/usage", "models/gateway", "models/upstreams", "models/server-upstreams"],
  },
  {
    sources: ["list-models", "list-upstreams", "stored-upstreams", "set-upstream"].map(
      (name) => `src/features/models/${name}.ts`,
    ),
    tests: ["models/upstreams", "models/server-upstreams", "models/gateway"],
  },
  {
    sources: ["oauth/connect", "oauth/grant"].map((name) => `src/features/connectors/${name}.ts`),
    tests: ["connectors/oauth"],
  },
  { sources: ["src/models/catalog.ts"], tests: ["models/catalog", "models/secrecy"] },
  { sources: ["src/lib/batch.ts"], tests: ["lib/batch"] },
  { sources: ["src/splice/answering.ts"], tests: ["splice/answering"] },
  { sources: ["src/features/connectors/ask.ts"], tests: ["connectors/ask"] },
  { sources: ["src/features/channels/connector-asks.ts"], tests: ["channels/connector-asks"] },
  {
    sources: ["attempt", "deliver", "schedule", "seal", "signature", "trim"].map(
      (name) => `src/features/webhooks/${name}.ts`,
    ),
    tests: ["webhooks/delivery", "webhooks/rules", "webhooks/trim"],
  },
  {
    sources: [
      "browsers",
      "deliver",
      "list",
      "message",
      "record",
      "push/encrypt",
      "push/send",
      "push/vapid",
    ].map((name) => `src/features/notifications/${name}.ts`),
    tests: ["notifications/delivery", "notifications/encrypt", "notifications/events"],
  },
  {
    sources: ["own", "reviews", "sessions"].map((name) => `src/features/inbox/${name}.ts`),
    tests: ["inbox/inbox"],
  },
  {
    sources: ["answer", "grant", "keep"].map((name) => `src/features/sessions/kept/${name}.ts`),
    tests: ["sessions/kept"],
  },
  { sources: ["daemon/acp/form.ts", "daemon/acp/questions.ts"], tests: ["acp/questions"] },
  { sources: ["src/edge/gateway/names.ts"], tests: ["api/git-names", "api/git-rules"] },
  { sources: ["src/edge/gateway/rules.ts"], tests: ["gateway/rules"] },
  { sources: ["src/edge/gateway/pusher.ts"], tests: ["gateway/pusher"] },
  { sources: ["src/features/checks/summary.ts"], tests: ["checks/summary", "api/checks"] },
  {
    sources: ["src/features/checks/set-status.ts", "src/features/checks/statuses.ts"],
    tests: ["api/checks", "checks/summary", "webhooks/events"],
  },
  {
    sources: [
      "src/conversation/plan.ts",
      "src/conversation/request.ts",
      "src/conversation/runtime-message.ts",
      "src/conversation/runtime-turn.ts",
      "src/conversation/runtime-turns.ts",
    ],
    tests: ["conversation/runtime-turns", "sessions/conversation"],
  },
  {
    sources: [
      "src/features/sessions/conversation/answerers.ts",
      "src/features/sessions/conversation/end.ts",
      "src/features/sessions/conversation/events.ts",
      "src/features/sessions/conversation/growth.ts",
      "src/features/sessions/conversation/part-row.ts",
      "src/features/sessions/conversation/read.ts",
      "src/features/sessions/conversation/recap.ts",
      "src/features/sessions/conversation/redact.ts",
      "src/features/sessions/conversation/store.ts",
      "src/features/sessions/conversation/stored-text.ts",
    ],
    tests: ["sessions/conversation", "sessions/growth", "sessions/stored-text"],
  },
  { sources: ["src/features/change-requests/agent-merge.ts"], tests: ["api/agent-merge"] },
  { sources: ["src/git/merge/write-rebase.ts"], tests: ["git/methods", "git/parity-methods"] },
  {
    sources: ["src/features/change-requests/approvals.ts"],
    tests: ["api/approvals", "api/requested-changes"],
  },
  { sources: ["src/features/change-requests/approved.ts"], tests: ["change-requests/approved"] },
  {
    sources: ["merge", "merge-intent", "merge-commits"].map(
      (name) => `src/features/change-requests/${name}.ts`,
    ),
    tests: [
      "api/merge-methods",
      "change-requests/settle",
      "faults/merge-moves",
      "api/change-requests",
      "api/reached",
    ],
  },
  { sources: ["src/git/diff/follow-lines.ts"], tests: ["git/follow-lines"] },
  { sources: ["src/contract/suggestion.ts"], tests: ["contract/suggestion"] },
  { sources: ["src/features/change-requests/heads.ts"], tests: ["change-requests/heads", "api/kept-heads"] },
  { sources: ["src/features/change-requests/since.ts"], tests: ["api/since"] },
  {
    sources: ["place", "anchor"].map((name) => `src/features/change-requests/comments/${name}.ts`),
    tests: ["api/comment-places", "api/comments"],
  },
  { sources: ["src/features/change-requests/comments/apply.ts"], tests: ["api/suggestions"] },
  { sources: ["src/features/change-requests/settle.ts"], tests: ["change-requests/settle"] },
  { sources: ["src/features/change-requests/reached.ts"], tests: ["api/reached"] },
  { sources: ["src/features/runs/claim.ts"], tests: ["runs/claim"] },
  { sources: ["src/features/triggers/due.ts"], tests: ["triggers/due"] },
  { sources: ["src/features/triggers/template.ts"], tests: ["triggers/template", "triggers/webhook"] },
  {
    sources: ["src/splice/head.ts", "src/splice/fields.ts"],
    tests: ["splice/request-head", "splice/answer-head", "splice/head"],
  },
  { sources: ["src/splice/body.ts"], tests: ["splice/body", "splice/head", "splice/limits"] },
  { sources: ["src/features/triggers/webhook.ts"], tests: ["triggers/webhook-handler"] },
  { sources: ["src/git/refs.ts"], tests: ["git/refs"] },
  { sources: ["src/git/remote/remote-url.ts"], tests: ["git/remote-url"] },
  { sources: ["src/git/diff/patch.ts", "src/git/diff/patch-header.ts"], tests: ["git/patch", "git/diff"] },
  { sources: ["dashboard/pages/change-requests/diff/patch.ts"], tests: ["dashboard/diff/patch"] },
  { sources: ["src/lib/cache.ts"], tests: ["proxy/memory"] },
  { sources: ["daemon/acp/tool.ts"], tests: ["acp/tool"] },
  { sources: ["daemon/runtime/describe-agent.ts"], tests: ["acp/describe"] },
  {
    sources: ["agent", "answer", "content", "conversation", "journal", "recap", "routes", "turns"].map(
      (name) => `daemon/acp/${name}.ts`,
    ),
    tests: ["acp/conformance", "acp/restart", "acp/recap"],
  },
  { sources: ["cli/flags.ts"], tests: ["cli/flags", "cli/arguments"] },
  { sources: ["cli/alias.ts", "cli/split-words.ts", "cli/commands/alias.ts"], tests: ["cli/alias"] },
  { sources: ["cli/extension.ts"], tests: ["cli/extension"] },
  { sources: ["cli/commands/cr/next-steps.ts"], tests: ["cli/next-steps"] },
  { sources: ["cli/commands/cr/reference.ts", "cli/own-branch.ts"], tests: ["cli/cr-branch"] },
];
