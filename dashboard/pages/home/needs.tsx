import { Link } from "wouter";
import type { Inbox, InboxItem, InboxReason } from "../../../src/contract/inbox.ts";
import type { Project } from "../../../src/contract/project.ts";
import { pageOf } from "../../api/page-of.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge, type BadgeLook } from "../../parts/badge.tsx";
import { ROW_LINK } from "../../parts/row-keys.ts";
import { Visible } from "../../parts/visible.tsx";
import { newestFirst } from "../projects/projects.tsx";
import { useSome } from "./some.tsx";

/** The groups, in their order. */
const GROUPS: readonly [InboxReason, title: string, BadgeLook][] = [
  ["review_requested", "Your review was requested", "warn"],
  ["waiting", "Agents that wait for you", "warn"],
  ["review", "To review", "info"],
  ["changes_requested", "Changes requested", "danger"],
  ["conflicts", "Conflicts", "danger"],
  ["checks_failed", "Failed checks", "danger"],
  ["ready", "Ready to merge", "ok"],
  ["failed", "Failed sessions", "danger"],
];

/** What waits for the user, by reason. Someone without projects is told how to begin instead. */
export function Needs({
  inbox: { items, truncated },
  projects,
}: {
  inbox: Inbox;
  projects: readonly Project[];
}) {
  const [newest] = newestFirst(projects);
  if (items.length === 0 && !newest) return null;
  return (
    <section aria-labelledby="needs">
      <h2 id="needs" className="mb-3 font-semibold text-lg">
        Needs you
      </h2>
      {items.length === 0 && newest && <Nothing project={newest} />}
      <div className="flex flex-col gap-5">
        {GROUPS.map(([reason, title, look]) => (
          <Group
            key={reason}
            {...{ reason, title, look }}
            items={items.filter((item) => item.reason === reason)}
          />
        ))}
      </div>
      {truncated && <p className="mt-3 text-muted text-sm">There are more. Only the newest are listed.</p>}
    </section>
  );
}

/** @param project the one that was changed last */
function Nothing({ project: { slug, name } }: { project: Project }) {
  return (
    <p className="text-muted">
      Nothing needs you now. Next:{" "}
      <Link href={path`/projects/${slug}/sessions/new`} className="text-accent underline">
        start an agent in <Visible>{name}</Visible>
      </Link>
    </p>
  );
}

interface GroupProps {
  reason: InboxReason;
  title: string;
  look: BadgeLook;
  items: readonly InboxItem[];
}

function Group({ reason, title, look, items }: GroupProps) {
  const [shown, toggle] = useSome(items, title);
  if (items.length === 0) return null;
  const id = `needs-${reason}`;
  return (
    <div>
      <h3 id={id} className="mb-2 flex items-center gap-2 font-medium">
        {title} <Badge look={look}>{items.length}</Badge>
      </h3>
      <ul
        aria-labelledby={id}
        className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface"
      >
        {shown.map((item) => (
          <Row key={item.url} item={item} />
        ))}
      </ul>
      {toggle}
    </div>
  );
}

function Row({ item }: { item: InboxItem }) {
  const { title, text, project_name, change_request, since } = item;
  return (
    <li className="relative flex flex-wrap items-baseline gap-x-4 gap-y-1 px-4 py-3 hover:bg-raised">
      <div className="min-w-0 grow basis-72">
        <Link
          href={pageOf(item)}
          {...ROW_LINK}
          className="wrap-anywhere font-medium text-ink no-underline after:absolute after:inset-0"
        >
          <Visible>{title}</Visible>
        </Link>
        {text !== "" && (
          <p className="wrap-anywhere line-clamp-2 text-muted text-sm">
            <Visible>{text}</Visible>
          </p>
        )}
      </div>
      <p className="wrap-anywhere text-muted text-sm">
        <Visible>{project_name}</Visible>
        {change_request !== null && ` #${change_request}`} · <Ago at={since} />
      </p>
    </li>
  );
}
