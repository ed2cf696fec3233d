import { keepPreviousData } from "@tanstack/react-query";
import type { DiffFile } from "../../../../src/contract/change-request.ts";
import type { Session } from "../../../../src/contract/session.ts";
import type { Turn } from "../../../../src/contract/turn.ts";
import type { WorkspaceChanges, WorkspaceFolder } from "../../../../src/contract/workspace.ts";
import { useGet } from "../../../api/get.ts";
import { path } from "../../../api/path.ts";
import { useShown } from "../../../api/shown.ts";

/** How often the files are compared while the page is open: programs and people change them, too. */
const POLL_MS = 5_000;

/** A path of the workspace: its exact bytes are in base64 when it is not UTF-8. */
export type At = Pick<DiffFile, "path" | "path_base64">;

/** The workspace that is shown, and what its data depend on: they are read again when it changes. */
export interface Shown {
  session: Session;
  moment: string;
}

export function own({ project_id, session_id }: Session): string {
  return path`/projects/${project_id}/sessions/${session_id}`;
}

export function keyOf({ project_id, session_id }: Session): string[] {
  return [project_id, "session", session_id, "workspace"];
}

export function queryOf({ path: name, path_base64 }: At): string {
  const query = path_base64 === undefined ? { path: name } : { path_base64 };
  return String(new URLSearchParams(query));
}

/** Changes when the agent has ended a tool or a turn, after which files may differ. */
export function momentOf(turns: readonly Turn[]): string {
  const ended = turns.reduce(
    (sum, { parts }) =>
      sum + parts.filter(({ kind, state }) => kind === "tool" && state !== "running").length,
    0,
  );
  const last = turns.at(-1);
  return `${last?.turn_id} ${last?.state} ${ended}`;
}

/** What the workspace changes: read again when the agent has done something, and every few seconds while the page is visible. */
export function useChanges(session: Session, moment: string) {
  const isShown = useShown();
  const isLive = session.status === "running";
  return useGet<WorkspaceChanges>([...keyOf(session), "changes", moment], `${own(session)}/diff`, {
    enabled: isLive,
    refetchInterval: isShown && isLive ? POLL_MS : false,
    placeholderData: keepPreviousData,
  });
}

/** A folder of the workspace. */
export function useFolder({ session, moment }: Shown, at: At) {
  return useGet<WorkspaceFolder>(
    [...keyOf(session), "folder", at.path_base64 ?? at.path, moment],
    `${own(session)}/files?${queryOf(at)}`,
    { enabled: session.status === "running", placeholderData: keepPreviousData },
  );
}
