import type { Exec } from "../../../src/contract/exec.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-exec.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";
import { findSession } from "./reference.ts";

export const commands: Handler<typeof table.commands> = async (context, { args }) => {
  const { api, path } = await findSession(context, args.id);
  const found = await api.list<Exec>({ path: `${path}/exec` }, "commands");
  await context.out.result(found, (view) => (found.length === 0 ? "" : tableOf(found, COLUMNS, view)));
  if (found.length === 0) await context.out.note("Nobody has run a command in this sandbox.");
};

const COLUMNS: readonly Column<Exec>[] = [
  {
    title: "STARTED",
    value: ({ created_at }) => created_at,
    shown: ({ created_at }, { now }) => ago(created_at, now),
  },
  { title: "USER", value: ({ user_name }) => user_name },
  {
    title: "COMMAND",
    value: ({ command }) => (command.length === 0 ? "(shell)" : command.join(" ")),
    flexible: true,
  },
];
