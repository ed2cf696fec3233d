import type { SessionConnection, SessionNetwork } from "../../../src/contract/network.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/network.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";
import { oneLine } from "../../text.ts";
import { findOwnSession } from "../sessions/reference.ts";
import { allowHint } from "./refusals.ts";

export const ls: Handler<typeof table.ls> = async (context, { args, flags }) => {
  const { api, path } = await findOwnSession(context, args.id);
  const { egress, allow, connections } = await api.call<SessionNetwork>({ path: `${path}/network` });
  const shown = flags.refused ? connections.filter(({ outcome }) => outcome !== "passed") : connections;
  await context.out.result(shown, (view) => (shown.length === 0 ? "" : tableOf(shown, COLUMNS, view)));
  if (egress === null) await context.out.note("The session has had no sandbox with a network policy.");
  else
    await context.out.note(
      `Policy: ${egress}${egress === "open" ? "" : `, allowed: ${allow.map(oneLine).join(", ") || "nothing"}`}`,
    );
  const hint = allowHint(connections);
  if (hint !== null) await context.out.note(`To allow a host: ${hint}`);
};

const COLUMNS: readonly Column<SessionConnection>[] = [
  {
    title: "OUTCOME",
    value: ({ outcome }) => outcome,
    shown: ({ outcome }) => outcome.replaceAll("_", " "),
    paint: ({ outcome }, view) => (outcome === "passed" ? view.paint.green : view.paint.red),
  },
  { title: "HOST", value: ({ host }) => host ?? "(others)", flexible: true },
  { title: "PORT", value: ({ port }) => (port === null ? "" : String(port)) },
  { title: "CONNECTIONS", value: ({ connections }) => String(connections) },
  { title: "SENT", value: ({ sent }) => String(sent) },
  { title: "RECEIVED", value: ({ received }) => String(received) },
  { title: "LAST", value: ({ last_at }) => last_at, shown: ({ last_at }, { now }) => ago(last_at, now) },
];
