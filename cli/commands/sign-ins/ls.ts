import type { SignIn } from "../../../src/contract/sign-in.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sign-ins.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";

export const ls: Handler<typeof table.ls> = async (context) => {
  const api = await context.api();
  const { sign_ins: found } = await api.call<{ sign_ins: SignIn[] }>({ path: "/accounts/sign-ins" });
  await context.out.result(found, (view) => (found.length === 0 ? "" : tableOf(found, COLUMNS, view)));
  if (found.length === 0) await context.out.note("You are signed in in no browser.");
};

const COLUMNS: readonly Column<SignIn>[] = [
  {
    title: "ID",
    value: ({ sign_in_id }) => sign_in_id,
    shown: ({ sign_in_id }) => sign_in_id.slice(0, 8),
    paint: (_, view) => view.paint.cyan,
  },
  { title: "BROWSER", value: ({ user_agent }) => user_agent ?? "", flexible: true },
  { title: "ADDRESS", value: ({ address }) => address ?? "" },
  {
    title: "SIGNED IN",
    value: ({ created_at }) => created_at,
    shown: ({ created_at }, { now }) => ago(created_at, now),
  },
  {
    title: "LAST USED",
    value: ({ last_used_at }) => last_used_at,
    shown: ({ last_used_at }, { now }) => ago(last_used_at, now),
  },
];
