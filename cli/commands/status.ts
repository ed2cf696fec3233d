import type { ChangeRequest } from "../../src/contract/change-request.ts";
import type { Project } from "../../src/contract/project.ts";
import { isAlive, LIVE_STATUSES, type Session } from "../../src/contract/session.ts";
import { type Api, path } from "../api.ts";
import type { Context } from "../context.ts";
import { CliError } from "../failure.ts";
import { identify } from "../identity.ts";
import type { View } from "../output.ts";
import type { Handler } from "../spec.ts";
import type * as spec from "../table/status.ts";
import { ago, type Column, sheet } from "../table-print.ts";
import { oneLine } from "../text.ts";
import { crColumns, kindColumn, listText, waitsFor } from "./cr/work-lists.ts";
import { shortId, statusPaint, statusText, waitingText } from "./sessions/show-session.ts";

/** Sessions of each status, and open change requests, that are read: an overview, not a list. */
const READ_MAX = 200;

interface Work {
  project: Project;
  sessions: Session[];
  change_requests: ChangeRequest[];
  to_review: ChangeRequest[];
}

export const status: Handler<typeof spec.statusSpec> = async (context) => {
  const { out } = context;
  // the project may be one on another host, so it is first
  const project = await context.project().catch((error: unknown) => {
    if (error instanceof CliError && error.code === "no_project") return null;
    throw error;
  });
  // not `context.api`, which prints the host: it is in the answer
  const target = await context.target();
  const api = context.apiFor(target);
  const { identity, accounts } = await identify(api);
  const work = project && (await read(api, project.id, identity.user_id));
  const id = work?.project.account_id ?? target.accountId;
  const account = accounts.find((each) => each.account_id === id) ?? null;
  const facts = { host: target.name, host_url: target.url, email: identity.email, account };
  const { sessions = [], change_requests = [], to_review = [] } = work ?? {};
  const value = { ...facts, project: work?.project ?? null, sessions, change_requests, to_review };
  await out.result(value, (view) => {
    const head = sheet(
      [
        ["host", `${target.name} (${target.url})`],
        ["user", identity.email],
        ["account", account?.name],
        [
          "project",
          work
            ? `${work.project.slug}${work.project.name === work.project.slug ? "" : ` (${work.project.name})`}`
            : "none",
        ],
      ],
      view,
    );
    return head + (work === null ? "" : text(work, view));
  });
  await next(context, work);
};

async function read(api: Api, id: string, me: string): Promise<Work> {
  const at = path`/projects/${id}`;
  const [project, crs, ...found] = await Promise.all([
    api.call<Project>({ path: at }),
    api.list<ChangeRequest>(
      { path: `${at}/change-requests`, query: { status: "open" }, slow: true },
      "change_requests",
      READ_MAX,
    ),
    ...[...LIVE_STATUSES, "stopped"].map((status) =>
      api.list<Session>({ path: `${at}/sessions`, query: { status } }, "sessions", READ_MAX),
    ),
  ]);
  const isMine = ({ created_by }: { created_by: string }) => created_by === me;
  return {
    project,
    sessions: found
      .flat()
      .filter((session) => isMine(session) && (isAlive(session) || session.activity === "waiting"))
      .sort((a, b) => urgency(a) - urgency(b)),
    change_requests: crs.filter(isMine),
    to_review: crs.filter((cr) => !isMine(cr) && waitsFor(me, cr)),
  };
}

/** Those that wait for a person come first. */
const urgency = ({ activity }: Session): number => ["waiting", "idle", "working", null].indexOf(activity);

function text({ sessions, change_requests, to_review }: Work, view: View): string {
  return (
    listText("Sessions", sessions, sessionColumns(view), view) +
    listText("Change requests", change_requests, crColumns("cr", view), view) +
    listText("To review", to_review, crColumns("review", view), view)
  );
}

const sessionColumns = (view: View): Column<Session>[] => [
  ...kindColumn<Session>("session", view),
  {
    title: "ID",
    value: ({ session_id }) => session_id,
    shown: shortId,
    paint: () => view.paint.cyan,
  },
  { title: "NAME", value: ({ name }) => name ?? "", flexible: true },
  {
    title: "STATUS",
    value: ({ activity, status }) => activity ?? status,
    shown: (session) => session.activity ?? statusText(session),
    paint: ({ activity, status }) =>
      activity === "waiting" ? view.paint.yellow : statusPaint(view.paint, status),
  },
  {
    title: "SINCE",
    value: ({ activity_at, updated_at }) => activity_at ?? updated_at,
    shown: ({ activity_at, updated_at }) => ago(activity_at ?? updated_at, view.now),
    paint: () => view.paint.dim,
  },
  { title: "WAITS FOR", value: (session) => waitingText(session) ?? "", flexible: true },
];

async function next({ out }: Context, work: Work | null): Promise<void> {
  if (work === null) return out.note("No project: run `svc projects link`, or pass --project <id-or-slug>.");
  const { sessions, change_requests, to_review } = work;
  const waiting = sessions.filter(({ activity }) => activity === "waiting");
  const [first] = waiting;
  if (first)
    await out.note(`${oneLine(first.title ?? "The agent")} waits: svc sessions answer ${shortId(first)}`);
  if (sessions.length + change_requests.length + to_review.length === 0)
    await out.note('Nothing runs and nothing is open. Next: svc sessions new --prompt "…"');
}
