import type { LogLine, Session } from "../../../src/contract/session.ts";
import type { View } from "../../output.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sessions.ts";
import { ago, sheet } from "../../table-print.ts";
import { oneLine } from "../../text.ts";
import { findOwnSession } from "./reference.ts";
import { logRow, shortId, statusPaint, statusText } from "./show-session.ts";
import { tailOf } from "./watch.ts";

export const info: Handler<typeof table.info> = async (context, { args }) => {
  const { out } = context;
  const found = await findOwnSession(context, args.id);
  const session = await found.api.call<Session>({ path: found.path });
  const log = session.status === "failed" && !out.data.json ? await tailOf(found) : [];
  await out.result(session, (view) => page(session, log, view));
  await out.note(next(session));
};

function page(session: Session, log: readonly LogLine[], view: View): string {
  const { tty, paint } = view;
  const title = oneLine(session.name ?? `Session ${shortId(session)}`);
  const status = statusPaint(paint, session.status)(oneLine(statusText(session)));
  const time = (value: string) => (tty ? ago(value, view.now) : value);
  const head = tty ? `${paint.bold(title)}\n${status}\n\n` : "";
  const facts = sheet(
    [
      ["id", session.session_id],
      ...(tty
        ? []
        : ([
            ["name", session.name],
            ["status", session.status],
            ["step", session.step],
            ["stop reason", session.stop_reason],
          ] as const)),
      ["error", session.error],
      ["branch", session.branch_name],
      ["base", session.base_ref],
      ["agent", session.agent_name],
      ["model", session.model],
      ["provider", session.sandbox_provider],
      ["sandbox", session.sandbox_status],
      ["sandbox url", session.sandbox_url],
      ["created", `${time(session.created_at)} by ${session.created_by}`],
      ["last active", time(session.last_active_at)],
    ],
    view,
  );
  const rows = log.map((line) => logRow(line, view)).join("");
  return `${head}${facts}${rows === "" ? "" : `\n${paint.bold("The end of its log")}\n${rows}`}`;
}

function next(session: Session): string {
  const id = shortId(session);
  if (session.status === "running") return `Next: svc sessions open ${id}\n      svc sessions preview ${id}`;
  if (session.status === "provisioning") return `Next: svc sessions logs ${id} --follow`;
  return `Next: svc sessions restart ${id}`;
}
