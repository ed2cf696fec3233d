import { Bell as BellIcon } from "lucide-react";
import { useEffect } from "react";
import { Link } from "wouter";
import type { Notification } from "../../src/contract/notification.ts";
import { NOTIFICATION_VERBS } from "../../src/contract/notification-event.ts";
import { useNotifications, useRead } from "../api/notifications.ts";
import { pageOf } from "../api/page-of.ts";
import { Ago } from "../parts/ago.tsx";
import { Button } from "../parts/button.tsx";
import { setUnread } from "../parts/title.ts";
import { Visible } from "../parts/visible.tsx";

/** What the user was notified of. The number of unread ones is in the title of the document, too. */
export function Bell() {
  const { data } = useNotifications();
  const read = useRead();
  const unread = data?.unread ?? 0;
  useEffect(() => setUnread(unread), [unread]);
  return (
    <details name="menu" className="relative">
      <summary className="flex min-h-9 list-none items-center gap-1 rounded-md px-2 hover:bg-raised">
        <BellIcon className="size-5" />
        <span className="sr-only">Notifications</span>
        {unread > 0 && (
          <span className="rounded-full bg-accent px-2 text-on-accent text-sm">
            {unread}
            <span className="sr-only"> unread</span>
          </span>
        )}
      </summary>
      <div className="absolute right-0 z-40 mt-1 flex max-h-[70vh] w-80 max-w-[90vw] flex-col gap-3 overflow-y-auto rounded-md border border-line bg-surface p-3 shadow-lg">
        {data?.notifications.length === 0 && <p className="text-muted">No notifications.</p>}
        <ul aria-label="Notifications" className="divide-y divide-line">
          {data?.notifications.map((each) => (
            <Item
              key={each.notification_id}
              notification={each}
              onOpen={() => {
                if (each.read_at === null) read.mutate({ notification_ids: [each.notification_id] });
              }}
            />
          ))}
        </ul>
        {unread > 0 && (
          <Button busy={read.isPending} onClick={() => read.mutate({})}>
            Mark all as read
          </Button>
        )}
        <Link href="/settings#notifications" className="text-accent underline">
          Choose what you are notified of
        </Link>
      </div>
    </details>
  );
}

function Item({ notification, onOpen }: { notification: Notification; onOpen: () => void }) {
  const { event, title, text, project_name, read_at, created_at } = notification;
  return (
    <li className="py-2 first:pt-0 last:pb-0">
      <Link
        href={pageOf(notification)}
        onClick={(click) => {
          click.currentTarget.closest("details")?.removeAttribute("open");
          onOpen();
        }}
        className={`block ${read_at === null ? "font-semibold" : ""}`}
      >
        <Visible>{title}</Visible> {NOTIFICATION_VERBS[event]}
        {read_at === null && <span className="sr-only"> (unread)</span>}
      </Link>
      {text !== "" && (
        <p className="line-clamp-2 text-sm">
          <Visible>{text}</Visible>
        </p>
      )}
      <p className="text-muted text-sm">
        <Visible>{project_name}</Visible> · <Ago at={created_at} />
      </p>
    </li>
  );
}
