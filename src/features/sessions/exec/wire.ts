import type { sessionExecs } from "../../../../db/schema/index.ts";
import type { Exec } from "../../../contract/exec.ts";

/** A command as the API shows it. */
export function toExec(row: typeof sessionExecs.$inferSelect & { userName: string }): Exec {
  return {
    exec_id: row.execId,
    user_id: row.userId,
    user_name: row.userName,
    command: [...row.command],
    tty: row.tty,
    created_at: row.createdAt.toISOString(),
  };
}
