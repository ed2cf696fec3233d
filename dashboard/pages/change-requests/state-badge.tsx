import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { Badge } from "../../parts/badge.tsx";

const LOOKS = {
  open: ["ok", "Open"],
  draft: ["neutral", "Draft"],
  queued: ["ok", "Queued"],
  merged: ["done", "Merged"],
  closed: ["danger", "Closed"],
} as const;

interface Props {
  cr: Pick<ChangeRequest, "status"> & Partial<Pick<ChangeRequest, "draft" | "queue">>;
}

export function StateBadge({ cr: { status, draft, queue } }: Props) {
  const open = queue?.position != null ? "queued" : draft ? "draft" : "open";
  const [look, word] = LOOKS[status === "open" ? open : status];
  return <Badge look={look}>{word}</Badge>;
}
