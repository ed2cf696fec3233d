import type { Logger } from "pino";
import type { Database } from "../../db/client.ts";
import { parseJson, textField } from "../contract/json.ts";
import type { Changes } from "../lib/changes.ts";
import { Feed, type Subscriber } from "./feed.ts";
import { EVENTS_CHANNEL } from "./publish.ts";
import { readHeads, readSeqBefore } from "./read.ts";
import { trimEvents } from "./trim.ts";

/** Subscriptions of this process to projects' events, whichever server publishes them. */
export interface Events {
  /**
   * Sends a project's events to a subscriber until it disconnects: first those after the event `after`, or of the last
   * `recent` seconds, if either is given. Resolves when the subscriber has caught up.
   */
  subscribe(
    projectId: string,
    from: { after?: number; recent?: number },
    subscriber: Subscriber,
  ): Promise<void>;
  /** Ends all subscriptions. */
  close(): Promise<void>;
}

/** How often projects with subscribers are polled, in case a notification was lost. */
const POLL_MS = 5_000;
const TRIM_MS = 10 * 60_000;

/** Listens for published events (`publish`), reads them once for all subscribers, and wakes `changes` for them. */
export function openEvents(
  { db, listen }: Pick<Database, "db" | "listen">,
  { changes, log, pollMs = POLL_MS }: { changes: Changes; log: Logger; pollMs?: number | undefined },
): Events {
  const feeds = new Map<string, Feed>();
  const listening = listen({
    channel: EVENTS_CHANNEL,
    purpose: "events",
    onNotification,
    onListening() {
      changes.notifyAll();
      void pollAll();
    },
  });
  const polls = setInterval(() => void pollAll(), pollMs);
  const trims = setInterval(() => void tried(() => trimEvents(db)), TRIM_MS);

  return {
    async subscribe(projectId, { after, recent }, subscriber) {
      const begin = recent === undefined ? null : await readSeqBefore(db, projectId, recent);
      // no await between this and `join`: the last subscriber removes the feed as it leaves
      const feed = feeds.get(projectId) ?? new Feed(db, projectId);
      feeds.set(projectId, feed);
      const leave = () => {
        feed.leave(subscriber);
        if (feed.isIdle && feeds.get(projectId) === feed) feeds.delete(projectId);
      };
      subscriber.closed.addEventListener("abort", leave);
      try {
        await feed.join(subscriber, after ?? begin);
      } finally {
        if (subscriber.closed.aborted) leave();
      }
    },
    async close() {
      clearInterval(polls);
      clearInterval(trims);
      for (const feed of feeds.values()) feed.end("stopping");
      await listening.close();
    },
  };

  function onNotification(payload: string): void {
    const notification = parseJson(payload);
    const type = textField(notification, "type");
    changes.notify(type);
    if (type === "session") changes.notify(textField(notification, "id"));
    const feed = feeds.get(textField(notification, "project"));
    if (feed) void tried(() => feed.poll());
  }

  async function pollAll(): Promise<void> {
    if (feeds.size === 0) return;
    await tried(async () => {
      const heads = await readHeads(db, [...feeds.keys()]);
      for (const [projectId, feed] of feeds) {
        const head = heads.get(projectId);
        if (head === undefined || !feed.isAt(head)) await feed.poll();
      }
    });
  }

  /** Logs a failure; the next poll retries. */
  async function tried(work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => log.debug({ err: error }, "cannot read events"));
  }
}
