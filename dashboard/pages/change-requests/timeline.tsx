import { Link } from "wouter";
import type { TimelineEvent } from "../../../src/contract/timeline.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Visible } from "../../parts/visible.tsx";
import type { EventLine } from "./timeline-entries.ts";

type Look = readonly [color: string, sign: string];
const OK: Look = ["text-ok", "✓"];
const BAD: Look = ["text-danger", "✕"];
const PLAIN: Look = ["text-muted", "•"];

const LOOKS: Partial<Record<TimelineEvent["event"], Look>> = {
  pushed: ["text-muted", "↑"],
  head_ref_force_pushed: ["text-danger", "↥"],
  merged: OK,
  closed: BAD,
  auto_merge_disabled: BAD,
  removed_from_merge_queue: BAD,
};

/** A line between the comments of a change request: what happened, who did it and when. */
export function TimelineLine({ line, number }: { line: EventLine; number: number }) {
  const { slug } = useProject();
  const { who, text, at, since, body, event } = line;
  const [color, sign] = lookOf(line);
  const query = new URLSearchParams({ view: "changes", ...(since !== null && { since: String(since) }) });
  return (
    <div className="flex flex-col gap-2 px-1 text-sm">
      <p className="flex gap-2 text-muted">
        <span aria-hidden="true" className={`w-4 shrink-0 text-center ${color}`}>
          {sign}
        </span>
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
