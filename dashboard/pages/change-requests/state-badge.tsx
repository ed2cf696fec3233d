import { GitMerge, GitPullRequest, GitPullRequestClosed, GitPullRequestDraft, ListEnd } from "lucide-react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { Badge } from "../../parts/badge.tsx";

const LOOKS = {
  open: ["ok", "Open", GitPullRequest],
  draft: ["neutral", "Draft", GitPullRequestDraft],
  queued: ["ok", "Queued", ListEnd],
  merged: ["done", "Merged", GitMerge],
  closed: ["danger", "Closed", GitPullRequestClosed],
} as const;

interface Props {
  cr: Pick<ChangeRequest, "status"> & Partial<Pick<ChangeRequest, "draft" | "queue">>;
}

export function StateBadge({ cr: { status, draft, queue } }: Props) {
  const open = queue?.position != null ? "queued" : draft ? "draft" : "open";
  const [look, word, Icon] = LOOKS[status === "open" ? open : status];
  return (
    <Badge look={look}>
      <Icon className="mr-1 size-3.5" />
      {word}
    </Badge>
  );
}
