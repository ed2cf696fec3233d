import { textField } from "../src/contract/json.ts";
import { FROM_DASHBOARD } from "./api/from-dashboard.ts";

/** What svc uses of a service worker: the library of the pages' types does not have it. */
interface Extendable extends Event {
  waitUntil(work: Promise<unknown>): void;
}
declare const self: {
  location: { origin: string };
  registration: { showNotification(title: string, options: NotificationOptions): Promise<void> };
  clients: {
    matchAll(options: {
      type: "window";
      includeUncontrolled: true;
    }): Promise<readonly { url: string; focus(): Promise<unknown>; postMessage(message: unknown): void }[]>;
    openWindow(url: string): Promise<unknown>;
  };
  addEventListener(
    type: "push",
    listener: (event: Extendable & { data: { json(): unknown } | null }) => void,
  ): void;
  addEventListener(
    type: "notificationclick",
    listener: (event: Extendable & { notification: Notification }) => void,
  ): void;
};

/** Shows what the server pushes. A click opens its page, and marks it as read. */
self.addEventListener("push", (event) => {
  const message = event.data?.json();
  const [title, tag] = [textField(message, "title"), textField(message, "tag")];
  const shown = self.registration.showNotification(title, {
    ...{ body: textField(message, "body"), tag, icon: "/assets/icon.svg" },
    data: { url: textField(message, "url"), tag },
  });
  event.waitUntil(Promise.all([shown, tellPages()]));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const data: unknown = event.notification.data;
  event.waitUntil(Promise.all([open(textField(data, "url")), markRead(textField(data, "tag"))]));
});

/** A page that is open reads the list again. */
async function tellPages(): Promise<void> {
  for (const page of await pages()) page.postMessage({ type: "notification" });
}

async function open(url: string): Promise<void> {
  const page = new URL(url, self.location.origin);
  // only pages of this server
  if (page.origin !== self.location.origin) return;
  const open = (await pages()).find((each) => each.url === page.href);
  await (open ? open.focus() : self.clients.openWindow(page.href));
}

async function markRead(id: string): Promise<void> {
  await fetch("/v1/accounts/notifications/read", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...FROM_DASHBOARD },
    body: JSON.stringify({ notification_ids: [id] }),
  });
}

const pages = () => self.clients.matchAll({ type: "window", includeUncontrolled: true });
