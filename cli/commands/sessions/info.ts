import type { DaemonHealth } from "../../../src/contract/daemon.ts";
import type { SessionNetwork } from "../../../src/contract/network.ts";
import type { LogLine, Session } from "../../../src/contract/session.ts";
import { byAuthor } from "../../author-text.ts";
import { openDashboard } from "../../open-page.ts";
import type { View } from "../../output.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sessions.ts";
import { ago, sheet } from "../../table-print.ts";
import { count, oneLine } from "../../text.ts";
import { refusalLines } from "../network/refusals.ts";
import { type Found, findOwnSession } from "./reference.ts";
import {
  logRow,
  setupProblem,
  shortId,
  statusPaint,
  statusText,
  waitingText,
  wallsText,
} from "./show-session.ts";
import { tailOf } from "./watch.ts";

export const info: Handler<typeof table.info> = async (context, { args, flags }) => {
  const { out } = context;
  const found = await findOwnSession(context, args.id);
  if (flags.web) return openDashboard(context, found.api, found.path);
  const session = await found.api.call<Session>({ path: found.path });
  const log = session.status === "failed" && !out.data.json ? await tailOf(found) : [];
  const problem = session.status === "running" && !out.data.json ? await saveProblem(found) : null;
  const network = out.data.json ? null : await networkOf(found);
  await out.result(session, (view) => page(session, { problem, network, log }, view));
  await out.note(next(session));
};

/** A sandbox that does not respond quickly is skipped. */
const HEALTH_SECONDS = 2;

/** Why work is not saved or not restored, as the sandbox reports it. */
async function saveProblem({ api, id }: Found): Promise<string | null> {
  const path = `/p/${encodeURIComponent(id)}/8000/svc/health`;
  // without retries, because it is optional
  const signal = AbortSignal.timeout(HEALTH_SECONDS * 1000);
  const health = await api
    .call<Partial<DaemonHealth>>({ path, seconds: HEALTH_SECONDS, signal })
    .catch(() => null);
  return typeof health?.save_problem === "string" ? health.save_problem : null;
}

/** What the sandbox may connect to; null where the server does not say. */
function networkOf({ api, path }: Found): Promise<SessionNetwork | null> {
  return api.call<SessionNetwork>({ path: `${path}/network` }).catch(() => null);
}

function savedText({ saved }: Session, time: (value: string) => string): string | null {
  if (saved === null) return null;
  const files = saved.files === null ? "" : `${count(saved.files, "file")}, `;
  return `${files}${time(saved.at)}${saved.live ? "" : ", not in a sandbox now"}`;
}

interface Shown {
  problem: string | null;
  network: SessionNetwork | null;
  log: readonly LogLine[];
}

function page(session: Session, { problem, network, log }: Shown, view: View): string {
  const { tty, paint } = view;
  const title = oneLine(session.title ?? `Session ${shortId(session)}`);
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
            ["title", session.title],
            ["status", session.status],
            ["step", session.step],
            ["stop reason", session.stop_reason],
          ] as const)),
      ["error", session.error],
      ["blocked on", session.blocked_on?.message ?? null],
      ["waits for", waitingText(session)],
      ["branch", session.branch_name],
      ["base", session.base_ref],
      ["agent", session.agent_name],
      ["model", session.model],
      ["mode", session.mode],
      ["effort", session.effort],
      ["runtime", session.runtime],
      ["provider", session.sandbox_provider],
      ["sandbox", session.sandbox_status],
      ["sandbox url", session.sandbox_url],
      ["walls", wallsText(session)],
      ["network", network?.egress ?? null],
      ["setup", session.setup && oneLine(session.setup.state)],
      ["saved work", savedText(session, time)],
      ["saving", problem],
      ["created", `${time(session.created_at)}${byAuthor(session.author)}`],
      ["last active", time(session.last_active_at)],
    ],
    view,
  );
  const rows = log.map((line) => logRow(line, view)).join("");
  const setup = setupProblem(session);
  const failure = setup === null ? "" : `\n${setup}\n`;
  const refused = refusalLines(network?.connections ?? []);
  const refusals = refused.length === 0 ? "" : `\n${refused.join("\n")}\n`;
  return `${head}${facts}${failure}${refusals}${rows === "" ? "" : `\n${paint.bold("The end of its log")}\n${rows}`}`;
}

function next(session: Session): string {
  const id = shortId(session);
  if (session.saved !== null && !session.saved.live && session.status !== "provisioning")
    return `Next: svc sessions saved ${id}\n      svc sessions restart ${id} --restore`;
  if (session.status === "running") return `Next: svc sessions chat ${id}\n      svc sessions preview ${id}`;
  if (session.status === "provisioning") return `Next: svc sessions logs ${id} --follow`;
  return `Next: svc sessions restart ${id}`;
}
