import {
  ArrowUpToLine,
  Check,
  Dot,
  GitCommitHorizontal,
  GitMerge,
  GitPullRequest,
  GitPullRequestClosed,
  type LucideIcon,
  Pencil,
  Tag,
  Trash2,
  User,
  X,
} from "lucide-react";
import { Link } from "wouter";
import type { TimelineEvent } from "../../../src/contract/timeline.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Visible } from "../../parts/visible.tsx";
import type { EventLine } from "./timeline-entries.ts";

type Look = readonly [color: string, icon: LucideIcon];
const OK: Look = ["text-ok", Check];
const BAD: Look = ["text-danger", X];
const PLAIN: Look = ["text-muted", Dot];
const PEOPLE: Look = ["text-muted", User];
const LABEL: Look = ["text-muted", Tag];

const LOOKS: Partial<Record<TimelineEvent["event"], Look>> = {
  opened: ["text-ok", GitPullRequest],
  reopened: ["text-ok", GitPullRequest],
  pushed: ["text-muted", GitCommitHorizontal],
  head_ref_force_pushed: ["text-danger", ArrowUpToLine],
  renamed: ["text-muted", Pencil],
  assigned: PEOPLE,
  unassigned: PEOPLE,
  review_requested: PEOPLE,
  review_request_removed: PEOPLE,
  labeled: LABEL,
  unlabeled: LABEL,
  merged: ["text-done", GitMerge],
  closed: ["text-danger", GitPullRequestClosed],
  head_ref_deleted: ["text-muted", Trash2],
  auto_merge_disabled: BAD,
  removed_from_merge_queue: BAD,
};

/** A line between the comments of a change request: what happened, who did it and when. */
export function TimelineLine({ line, number }: { line: EventLine; number: number }) {
  const { slug } = useProject();
  const { who, text, at, since, body, event } = line;
  const [color, Icon] = lookOf(line);
  const query = new URLSearchParams({ view: "changes", ...(since !== null && { since: String(since) }) });
  return (
    <div className="flex flex-col gap-2 px-1 text-sm">
      <p className="flex gap-2 text-muted">
        <Icon className={`mt-0.5 size-4 shrink-0 ${color}`} />
        <span className="wrap-anywhere min-w-0">
          {who !== "" && (
            <>
              <span className="font-medium text-ink">
                <Visible>{who}</Visible>
              </span>{" "}
            </>
          )}
          <Visible>{text}</Visible> <Ago at={at} />
          {since !== null && (
            <>
              {" "}
              <Link
                href={`${path`/projects/${slug}/change-requests/${number}`}?${query}`}
                className="text-accent underline"
              >
                {event === "pushed" ? "Show what is new" : "Compare"}
              </Link>
            </>
          )}
        </span>
      </p>
      {body !== null && (
        <div className="ml-6 rounded-md border border-line bg-surface px-3 py-2">
          <Markdown>{body}</Markdown>
        </div>
      )}
    </div>
  );
}

function lookOf({ event, text }: EventLine): Look {
  if (event === "reviewed") return text.startsWith("approved") ? OK : BAD;
  if (event === "checks_completed") return text.endsWith("passed") ? OK : BAD;
  return LOOKS[event] ?? PLAIN;
}
