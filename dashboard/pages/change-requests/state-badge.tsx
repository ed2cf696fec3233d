import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { Badge } from "../../parts/badge.tsx";

const LOOKS = {
  open: ["ok", "Open"],
  merged: ["done", "Merged"],
  closed: ["danger", "Closed"],
} as const;

export function StateBadge({ status }: { status: ChangeRequest["status"] }) {
  const [look, word] = LOOKS[status];
  return <Badge look={look}>{word}</Badge>;
}
