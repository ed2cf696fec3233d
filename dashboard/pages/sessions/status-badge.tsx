import type { Session } from "../../../src/contract/session.ts";
import { Badge } from "../../parts/badge.tsx";
import { statusOf } from "./words.ts";

export function StatusBadge({ session }: { session: Session }) {
  const { words, look } = statusOf(session);
  return <Badge look={look}>{words}</Badge>;
}
