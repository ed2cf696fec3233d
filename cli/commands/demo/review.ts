import type { ChangeRequest, MergedChangeRequest } from "../../../src/contract/change-request.ts";
import type { AddCommentBody, Comment, SentToSession } from "../../../src/contract/comment.ts";
import type { Project } from "../../../src/contract/project.ts";
import type { Prompt } from "../../../src/contract/prompt.ts";
import { path } from "../../api.ts";
import { CliError } from "../../failure.ts";
import { dashboardOf } from "../../open-page.ts";
import { painter } from "../../output.ts";
import { oneLine, shellWord } from "../../text.ts";
import { paintDiff } from "../paint-diff.ts";
import type { Demo } from "./demo.ts";
import { askUnlessMoved, left } from "./moved.ts";
import { COMMENT, COMMENT_AT } from "./sample.ts";
import { announce } from "./say.ts";
import { notDone, sessionOf, waitForPrompt } from "./work.ts";

interface Reviewed {
  project: Project;
  cr: ChangeRequest;
}

const pathOf = ({ project, cr }: Reviewed): string =>
  path`/projects/${project.project_id}/change-requests/${cr.number}`;

/** Shows the change, and comments on it with the person's words; without any, the demo goes on to the merge. */
export async function comment(demo: Demo, stage: Reviewed): Promise<void> {
  const { cr, project } = stage;
  const of = `${cr.number} --project ${project.slug}`;
  await announce(demo, `Review change request #${cr.number}: ${cr.title}`, [
    `svc cr show ${of}`,
    `svc cr diff ${of}`,
  ]);
  await showChange(demo, stage);
  const page = `${dashboardOf(demo.context.system, demo.api.target)}/projects/${project.slug}/change-requests/${cr.number}`;
  await demo.context.out.note(`In the dashboard: ${oneLine(page)}`);
  const text = demo.isGuided ? await askForComment(demo) : COMMENT;
  if (text === "moved") return;
  if (text.trim() === "") {
    demo.skipsReview = true;
    return;
  }
  await announce(demo, "Comment on a line, and send it to the session", [
    `svc cr comment ${of} --file ${COMMENT_AT.path} --line ${COMMENT_AT.line} ${shellWord(text)}`,
  ]);
  await addComment(demo, stage, text);
  // whoever comments here wants the answer: no second question
  await sendToSession(demo, stage);
}

const askForComment = (demo: Demo): Promise<string> =>
  askUnlessMoved(demo, "comment", async (signal) => {
    const { text } = await import("../../prompt.ts");
    const message =
      'Your comment. The script understands words in "double quotes"; empty: merge without a review';
    return text(message, COMMENT, signal);
  });

/** On its line; on the whole change request if the branch has moved on. */
async function addComment({ api }: Demo, stage: Reviewed, text: string): Promise<void> {
  const call = (body: AddCommentBody) =>
    api.call<Comment>({ path: `${pathOf(stage)}/comments`, body, slow: true });
  await call({ body: text, ...COMMENT_AT }).catch((error: unknown) => {
    if (!(error instanceof CliError) || error.code !== "validation_failed") throw error;
    return call({ body: text });
  });
}

async function showChange({ context, api }: Demo, stage: Reviewed): Promise<void> {
  const { out, system } = context;
  if (out.quiet || out.data.json) return;
  const patch = await api.open({ path: `${pathOf(stage)}/diff`, accept: "text/x-diff", slow: true });
  for await (const part of paintDiff(patch.whole(), painter(out.colour(system.stderr)))) {
    await system.stderr.write(part);
  }
}

/** Sends comments that were written elsewhere, in the dashboard for example. */
export async function send(demo: Demo, stage: Reviewed): Promise<void> {
  await announce(demo, "A comment waits for an answer of the agent", []);
  if (demo.isGuided) {
    const answer = await askUnlessMoved(demo, "send", async (signal) => {
      const { confirm } = await import("../../prompt.ts");
      return (await confirm("Send it to the session?", true, signal)) ? "yes" : "no";
    });
    if (answer === "moved") return;
    if (answer === "no") throw left("The comment was not sent.");
  }
  await sendToSession(demo, stage);
}

async function sendToSession({ api }: Demo, stage: Reviewed): Promise<void> {
  const call = { method: "POST", path: `${pathOf(stage)}/send-to-session`, slow: true };
  await api.call<SentToSession>(call);
}

export async function waitForAnswer(
  demo: Demo,
  { project, prompt }: Reviewed & { prompt: Prompt },
): Promise<void> {
  const found = sessionOf(demo, project);
  const over = await waitForPrompt(
    demo,
    found,
    prompt,
    "The agent answers: it changes the page, pushes and replies",
  );
  if (over.state === "failed") throw notDone(project, found, over.error);
}

export async function merge(demo: Demo, stage: Reviewed): Promise<void> {
  const { cr, project } = stage;
  await announce(demo, `Merge #${cr.number} into ${cr.base_ref}: only a person does this`, [
    `svc cr comments ${cr.number} --project ${project.slug}`,
    `svc cr merge ${cr.number} --project ${project.slug}`,
  ]);
  if (demo.isGuided) {
    await showChange(demo, stage);
    const answer = await askUnlessMoved(demo, "merge", async (signal) => {
      const { confirm } = await import("../../prompt.ts");
      return (await confirm(`Merge change request #${cr.number}?`, true, signal)) ? "yes" : "no";
    });
    if (answer === "moved") return;
    if (answer === "no") throw left("Nothing was merged.");
  }
  const body = cr.head_commit_sha === null ? {} : { head_commit_sha: cr.head_commit_sha };
  const merged = await demo.api.call<MergedChangeRequest>({
    path: `${pathOf(stage)}/merge`,
    body,
    slow: true,
  });
  await demo.context.out.note(`Merged: ${oneLine(merged.merge.merge_commit_sha)}`);
}
