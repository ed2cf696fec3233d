import { and, desc, eq, inArray, or, sql } from "drizzle-orm";
import { changeRequests, channelThreads, projectSessions } from "../../../db/schema/index.ts";
import type { ChangeRequest } from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { prepareDiff } from "../change-requests/diff.ts";
import { getChangeRequest } from "../change-requests/read.ts";
import { pageUrl } from "../projects/page-url.ts";
import type { ChannelContext } from "./context.ts";
import type { ThreadRow } from "./rows.ts";
import type { Blocks } from "./slack/client.ts";
import { escapeLine, link } from "./slack/mrkdwn.ts";

export const MERGE_ACTION = "svc_merge";

/** Change requests shown in one thread: the newest. */
const SHOWN_MAX = 5;
const TITLE_MAX = 200;
const BRANCH_MAX = 100;

/**
 * Posts the open change requests of a thread's session, each with its size and a button that merges the commit that is
 * shown, and updates those that were posted before.
 */
export async function showChangeRequests(
  deps: Deps,
  context: ChannelContext,
  thread: ThreadRow,
): Promise<void> {
  await withPosted(deps, thread, (current) => showAll(deps, context, current));
}

/** Whether a change request was posted in a thread. A button can be clicked before its message is recorded. */
export async function isPosted(deps: Deps, thread: ThreadRow, number: number): Promise<boolean> {
  let posted = false;
  await withPosted(deps, thread, async (current) => {
    posted = Object.hasOwn(current.posted, String(number));
  });
  return posted;
}

/** Serializes what posts in a thread: two of its prompts may end at once. */
async function withPosted(
  deps: Deps,
  { threadId }: ThreadRow,
  work: (thread: ThreadRow) => Promise<void>,
): Promise<void> {
  await deps.mutex.run(`chat change requests ${threadId}`, async () => {
    const [thread] = await deps.db.select().from(channelThreads).where(eq(channelThreads.threadId, threadId));
    if (thread) await work(thread);
  });
}

async function showAll(deps: Deps, { slack, project }: ChannelContext, thread: ThreadRow): Promise<void> {
  for (const number of await numbersOf(deps, project, thread)) {
    const { change_request: found } = await getChangeRequest(deps, project, String(number));
    const earlier = thread.posted[String(number)];
    if (!earlier && found.status !== "open") continue;
    const message = await messageOf(deps, project, found);
    if (earlier?.shown === message.text) continue;
    const { room, ts } = thread;
    if (earlier) await slack.update({ room, ts: earlier.ts, ...message });
    const posted = earlier?.ts ?? (await slack.post({ room, thread: ts, ...message }));
    const entry = { [String(number)]: { ts: posted, shown: message.text } };
    await deps.db
      .update(channelThreads)
      .set({ posted: sql`${channelThreads.posted} || ${JSON.stringify(entry)}::jsonb` })
      .where(eq(channelThreads.threadId, thread.threadId));
    await deps.checkpoint("channel-posted");
  }
}

async function numbersOf({ db }: Deps, { projectId }: ProjectRow, thread: ThreadRow): Promise<number[]> {
  const { number, status, originSessionId, headRef } = changeRequests;
  const posted = Object.keys(thread.posted).map(Number);
  const branch = db
    .select({ name: projectSessions.branchName })
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, thread.sessionId));
  const isOfSession = or(eq(originSessionId, thread.sessionId), inArray(headRef, branch));
  const rows = await db
    .select({ number })
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, projectId),
        or(inArray(number, posted), and(eq(status, "open"), isOfSession)),
      ),
    )
    .orderBy(desc(number))
    .limit(SHOWN_MAX);
  return rows.map((row) => row.number).toReversed();
}

async function messageOf(
  deps: Deps,
  project: ProjectRow,
  found: ChangeRequest,
): Promise<{ text: string; blocks: Blocks }> {
  const { number, title, status, head_ref, base_ref, head_commit_sha: head } = found;
  const page = pageUrl(deps, project, `change-requests/${number}`);
  const name = link(page, `#${number} ${escapeLine(title, TITLE_MAX)}`);
  const text = [
    status === "open" ? name : `${name}: ${outcomeOf(found)}`,
    ...(status === "open"
      ? [
          `${escapeLine(head_ref, BRANCH_MAX)} → ${escapeLine(base_ref, BRANCH_MAX)}, ${await sizeOf(deps, project, number)}`,
          `Commit ${(head ?? "").slice(0, 10)}`,
        ]
      : []),
  ].join("\n");
  const section = { type: "section" as const, text: { type: "mrkdwn" as const, text } };
  if (status !== "open" || head === null) return { text, blocks: [section] };
  const verb = found.merge_queue ? "This adds to the merge queue" : "This merges";
  const plain = (words: string) => ({ type: "plain_text" as const, text: words, emoji: false });
  const merge = {
    type: "button" as const,
    action_id: MERGE_ACTION,
    style: "primary" as const,
    text: plain("Merge"),
    value: JSON.stringify({ cr: number, head }),
    confirm: {
      title: plain(`Merge #${number}?`),
      text: plain(`${verb} commit ${head.slice(0, 10)}. If the branch has moved since, nothing happens.`),
      confirm: plain("Merge"),
      deny: plain("Cancel"),
    },
  };
  return { text, blocks: [section, { type: "actions", elements: [merge] }] };
}

function outcomeOf({ status, merger, closer }: ChangeRequest): string {
  const by = escapeLine((status === "merged" ? merger : closer)?.name ?? "", TITLE_MAX);
  return by === "" ? status : `${status} by ${by}`;
}

/** The size of the diff in words; a branch that is gone, or a repository that does not answer, has none. */
async function sizeOf(deps: Deps, project: ProjectRow, number: number): Promise<string> {
  try {
    const { repo, request } = await prepareDiff(deps, project, String(number));
    const { files } = await deps.git.diff(repo, { ...request, onPatch: () => false });
    const sum = (key: "additions" | "deletions") => files.reduce((total, file) => total + file[key], 0);
    return `${files.length} ${files.length === 1 ? "file" : "files"}, +${sum("additions")} −${sum("deletions")}`;
  } catch (error) {
    if (error instanceof SvcError) return "size unknown";
    throw error;
  }
}
