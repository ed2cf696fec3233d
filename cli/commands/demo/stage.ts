import type { App, AppWithDeployments } from "../../../src/contract/app.ts";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Comment } from "../../../src/contract/comment.ts";
import type { Project } from "../../../src/contract/project.ts";
import type { Prompt } from "../../../src/contract/prompt.ts";
import type { Branch } from "../../../src/contract/repository.ts";
import type { Session } from "../../../src/contract/session.ts";
import { type Api, path } from "../../api.ts";
import { CliError } from "../../failure.ts";
import type { DemoRecord } from "./record.ts";
import { APP } from "./sample.ts";

/** A change request that the session of the demo has opened, with its review. */
interface Reviewed {
  project: Project;
  cr: ChangeRequest;
  /** Whether the agent has answered a comment. */
  wasReviewed: boolean;
}

/**
 * How far the demo is. It is read from the server each time, so that the demo continues after whatever has happened: in
 * another terminal, in the dashboard, or by a kill of svc.
 */
export type Stage =
  | { at: "project" }
  | { at: "repository" | "session"; project: Project }
  /** The agent works on its task: `prompt` is the newest one. */
  | { at: "work"; project: Project; session: Session; prompt: Prompt | null }
  | ({ at: "comment" | "merge" } & Reviewed)
  /** A person's comment has no reply yet: `answer` while a prompt with it runs. */
  | ({ at: "send" } & Reviewed)
  | ({ at: "answer"; prompt: Prompt } & Reviewed)
  | ({ at: "deploy" } & Reviewed)
  | ({ at: "done"; app: App } & Reviewed)
  /** The change request was closed, or its session was deleted before it had answered. */
  | ({ at: "closed" | "abandoned" } & Reviewed);

/** Comments of a demo that are read. */
const COMMENTS_READ = 200;

/** @param skipsReview whether to merge without a comment */
export async function readStage(api: Api, record: DemoRecord, skipsReview: boolean): Promise<Stage> {
  const project = await findDemoProject(api, record);
  if (project === null) return { at: "project" };
  const base = path`/projects/${project.project_id}`;
  const all = { path: `${base}/change-requests`, query: { status: "all" }, slow: true };
  // the newest first, and the script opens only one
  const cr = (await api.list<ChangeRequest>(all, "change_requests")).findLast(
    ({ head_ref }) => head_ref === record.session_id,
  );
  if (!cr) return beforeReview(api, record, project);
  const reviewed = { project, cr, ...(await readReview(api, record, base, cr)) };
  if (cr.status === "closed") return { at: "closed", ...reviewed };
  if (cr.status === "merged") return afterMerge(api, base, reviewed);
  const { prompt, session, unanswered, wasReviewed } = reviewed;
  if (unanswered !== null) {
    if (session === null) return { at: "abandoned", ...reviewed };
    const isSent = prompt !== null && prompt.ended_at === null && prompt.created_at >= unanswered;
    return isSent ? { at: "answer", ...reviewed, prompt } : { at: "send", ...reviewed };
  }
  return { at: wasReviewed || skipsReview ? "merge" : "comment", ...reviewed };
}

/** The project of the demo; null if it does not exist, or not any more. */
export async function findDemoProject(api: Api, { project_id, name }: DemoRecord): Promise<Project | null> {
  if (project_id !== null) return orNull(api.call<Project>({ path: path`/projects/${project_id}` }));
  const projects = await api.list<Project>({ path: "/projects" }, "projects");
  return projects.find((project) => project.name === name) ?? null;
}

/** Null for what the server does not find. */
export async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    if (error instanceof CliError && error.code === "not_found") return null;
    throw error;
  });
}

async function beforeReview(api: Api, { session_id }: DemoRecord, project: Project): Promise<Stage> {
  const base = path`/projects/${project.project_id}`;
  const at = `${base}${path`/sessions/${session_id}`}`;
  const session = await orNull(api.call<Session>({ path: at }));
  if (session !== null) return { at: "work", project, session, prompt: await newestPrompt(api, at) };
  const branches = await api.list<Branch>({ path: `${base}/branches`, slow: true }, "branches");
  const isPushed = branches.some(({ name }) => name === project.default_branch);
  return { at: isPushed ? "session" : "repository", project };
}

async function newestPrompt(api: Api, session: string): Promise<Prompt | null> {
  return (await api.list<Prompt>({ path: `${session}/prompts` }, "prompts", 1))[0] ?? null;
}

/** The prompt is read before the comments: when it has ended, its replies are there. */
async function readReview(api: Api, { session_id }: DemoRecord, base: string, cr: ChangeRequest) {
  const at = `${base}${path`/sessions/${session_id}`}`;
  const session = await orNull(api.call<Session>({ path: at }));
  const prompt = session && (await orNull(newestPrompt(api, at)));
  const call = { path: `${base}${path`/change-requests/${cr.number}/comments`}` };
  const comments = await api.list<Comment>(call, "comments", COMMENTS_READ);
  return { session, prompt, ...summaryOf(comments) };
}

/** @returns when the newest comment without a reply was written, null if all have one; and whether one was answered */
export function summaryOf(comments: readonly Comment[]): { unanswered: string | null; wasReviewed: boolean } {
  const lasts = new Map<string, Comment>();
  for (const comment of comments) lasts.set(comment.reply_to ?? comment.comment_id, comment);
  const open = [...lasts].flatMap(([first, last]) => {
    const isResolved = comments.find(({ comment_id }) => comment_id === first)?.resolved_at;
    return isResolved || last.author.kind === "agent" ? [] : [last.created_at];
  });
  return {
    unanswered: open.toSorted().at(-1) ?? null,
    wasReviewed: comments.some(({ author, reply_to }) => reply_to !== null && author.kind === "agent"),
  };
}

/** Deployed is the merge, or something newer. */
async function afterMerge(api: Api, base: string, reviewed: Reviewed): Promise<Stage> {
  const found = await orNull(api.call<AppWithDeployments>({ path: `${base}/apps/${APP}` }));
  const of = found?.deployments.find(({ commit }) => commit === reviewed.cr.merge_commit_sha);
  const live = found?.app.live;
  if (found && of && live && live.number >= of.number) return { at: "done", app: found.app, ...reviewed };
  if (of?.state === "failed") {
    throw new CliError("deployment_failed", `The app was not deployed: ${of.error ?? "no reason is known"}`, {
      hint: `Its log: svc apps logs ${APP} --project ${reviewed.project.slug}`,
    });
  }
  return { at: "deploy", ...reviewed };
}
