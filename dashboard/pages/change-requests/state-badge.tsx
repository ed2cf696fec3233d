import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { Badge } from "../../parts/badge.tsx";

const LOOKS = {
  open: ["ok", "Open"],
  draft: ["neutral", "Draft"],
  merged: ["done", "Merged"],
  closed: ["danger", "Closed"],
} as const;

interface Props {
  cr: Pick<ChangeRequest, "status"> & Partial<Pick<ChangeRequest, "draft">>;
}

export function StateBadge({ cr: { status, draft } }: Props) {
  const [look, word] = LOOKS[draft && status === "open" ? "draft" : status];
  return <Badge look={look}>{word}</Badge>;
}
