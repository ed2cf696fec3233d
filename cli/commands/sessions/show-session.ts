import type { AppLogLine } from "../../../src/contract/app.ts";
import type { CheckLogLine } from "../../../src/contract/check.ts";
import { type LogLine, type Session, WALLS, type Wall } from "../../../src/contract/session.ts";
import type { Paint, View } from "../../output.ts";
import { ago, type Column, table } from "../../table-print.ts";
import { logText, oneLine } from "../../text.ts";

/** A list of sessions, as a table for a terminal or as rows for a script. */
export const listOf = (sessions: readonly Session[], view: View): string =>
  sessions.length === 0 ? "" : table(sessions, columnsFor(view), view);

export const columnsFor = (view: View): readonly Column<Session>[] => (view.tty ? FOR_PEOPLE : FOR_SCRIPTS);

const STATUS: Column<Session> = {
  title: "STATUS",
  value: (session) => session.status,
  shown: statusText,
  paint: (session, view) => statusPaint(view.paint, session.status),
};
const TITLE: Column<Session> = { title: "TITLE", value: (session) => session.title ?? "", flexible: true };
const BASE: Column<Session> = { title: "BASE", value: (session) => session.base_ref, flexible: true };
const AGENT: Column<Session> = { title: "AGENT", value: (session) => session.agent_name ?? "" };
const ACTIVE: Column<Session> = {
  title: "ACTIVE",
  value: (session) => session.last_active_at,
  shown: (session, view) => ago(session.last_active_at, view.now),
  paint: (_, view) => view.paint.dim,
};

const FOR_PEOPLE: readonly Column<Session>[] = [
  { title: "ID", value: shortId, paint: (_, view) => view.paint.cyan },
  TITLE,
  STATUS,
  BASE,
  AGENT,
  ACTIVE,
];

const FOR_SCRIPTS: readonly Column<Session>[] = [
  { title: "ID", value: (session) => session.session_id },
  TITLE,
  STATUS,
  { title: "STEP", value: (session) => session.step ?? "" },
  { title: "BRANCH", value: (session) => session.branch_name },
  BASE,
  AGENT,
  ACTIVE,
  { title: "WALLS", value: ({ walls }) => (isOpen(walls) ? "none" : (walls?.join(",") ?? "")) },
];

/** The first eight digits, which every command accepts as its id. */
export function shortId({ session_id }: Pick<Session, "session_id">): string {
  return oneLine(session_id.slice(0, 8));
}

/** `provisioning (image)`, `provisioning (waiting, place 3 of 12)`, `failed (clone)`, `stopped (idle)`, `running (engine away)`. */
export function statusText(session: Session): string {
  const { status, step, stop_reason, walls, activity } = session;
  const known = {
    stopped: [stop_reason],
    running: [activity, blockedText(session), isOpen(walls) ? "no walls" : null],
  };
  const parts = status === "stopped" || status === "running" ? known[status] : [step, blockedText(session)];
  const more = parts.filter((each) => each !== null).join(", ");
  return more === "" ? status : `${status} (${more})`;
}

/** What its start or its sandbox waits for, in a few words. */
function blockedText({ blocked_on: blocked }: Session): string | null {
  if (!blocked) return null;
  const { kind, position, length } = blocked;
  return kind === "queue" ? `place ${position} of ${length}` : `${oneLine(kind)} away`;
}

/** That the setup command failed, and the end of its output; null if it did not. */
export function setupProblem({ setup }: Pick<Session, "setup">): string | null {
  if (setup?.state !== "failed") return null;
  const output = setup.output.map((line) => `  ${logText(line)}`);
  return [`setup failed: ${oneLine(setup.problem ?? "unknown reason")}`, ...output].join("\n");
}

/** What an agent waits for, in one line; null if it does not. */
export function waitingText({ waiting_for: waiting }: Pick<Session, "waiting_for">): string | null {
  if (waiting === null) return null;
  if (waiting.kind === "permission")
    return `permission for ${[waiting.permission, ...waiting.patterns].filter(Boolean).join(" ")}`;
  const labels = waiting.questions.flatMap(({ options }) => options.map(({ label }) => label));
  const choices = labels.length > 0 ? ` (${labels.join(" | ")})` : "";
  return `${waiting.questions.map(({ question }) => question).join(" ")}${choices}`;
}

/** `files, processes, user (not: network, …)`; null if unknown. */
export function wallsText({ walls }: Pick<Session, "walls">): string | null {
  if (!walls) return null;
  if (isOpen(walls)) return "none: the agent can do everything that the server's user can";
  const names = (listed: readonly Wall[]) =>
    listed.map((wall) => oneLine(wall.replaceAll("_", " "))).join(", ");
  const missing = WALLS.filter((wall) => !walls.includes(wall));
  return `${names(walls)}${missing.length > 0 ? ` (not: ${names(missing)})` : ""}`;
}

function isOpen(walls: Session["walls"]): boolean {
  return walls?.length === 0;
}

export function statusPaint(paint: Paint, status: string): (text: string) => string {
  if (status === "running") return paint.green;
  if (status === "failed") return paint.red;
  return status === "stopped" ? paint.dim : paint.yellow;
}

/** One line on the result of an action on a session; scripts get its full id. */
export function outcome(session: Session, sentence: string, { tty, paint }: View): string {
  const id = tty ? shortId(session) : oneLine(session.session_id);
  const title = session.title === null ? "" : ` ${oneLine(session.title)}`;
  return `${statusPaint(paint, session.status)(id)}${title}: ${sentence}\n`;
}

const SOURCE_PAINT: Readonly<Record<string, keyof Paint>> = {
  svc: "cyan",
  build: "yellow",
  sandbox: "green",
  run: "green",
  check: "green",
};

/** A line of a log with its source; scripts get time, source and text, separated by tabs. */
export function logRow(
  { at, source, text }: LogLine | AppLogLine | CheckLogLine,
  { tty, paint }: View,
): string {
  const words = logText(text);
  if (!tty) return `${oneLine(at ?? "")}\t${oneLine(source)}\t${words}\n`;
  const colour = paint[SOURCE_PAINT[source] ?? "dim"];
  return `${paint.dim(timeOf(at))} ${colour(oneLine(source).padEnd(7))} ${words}\n`;
}

/** The local time of day. */
function timeOf(at: string | null): string {
  const time = new Date(at ?? "");
  return Number.isNaN(time.getTime()) ? "        " : time.toTimeString().slice(0, 8);
}
