import type { Logger } from "pino";
import type { Database } from "../../db/client.ts";
import { parseJson, textField } from "../contract/json.ts";
import type { Changes } from "../lib/changes.ts";
import { Feed, type Reader } from "./feed.ts";
import { EVENTS_CHANNEL } from "./publish.ts";
import { readHeads, readSeqBefore } from "./read.ts";
import { trimEvents } from "./trim.ts";

/** Those who follow projects' events in this process, whichever server makes the changes. */
export interface Events {
  /**
   * Tells a reader what happens in a project, until it is gone: first what came after the event `after`, or in the last
   * `recent` seconds, if one of them is given. Resolves when the reader has caught up.
   */
  follow(projectId: string, from: { after?: number; recent?: number }, reader: Reader): Promise<void>;
  /** Ends all readers. */
  close(): Promise<void>;
}

/** What a lost notification costs: the heads of the projects that are followed are looked at this often. */
const LOOK_MS = 5_000;
const TRIM_MS = 10 * 60_000;

/**
 * Hears of what is announced on the database (`publish`), and reads it once for all. Whoever waits in this process for
 * a change of a session, or of anything of a type, is woken as well.
 */
export function openEvents(
  { db, listen }: Pick<Database, "db" | "listen">,
  { changes, log, lookMs = LOOK_MS }: { changes: Changes; log: Logger; lookMs?: number | undefined },
): Events {
  const feeds = new Map<string, Feed>();
  const listening = listen({ channel: EVENTS_CHANNEL, onNotice: hear, onListening: () => void lookAtAll() });
  const looks = setInterval(() => void lookAtAll(), lookMs);
  const trims = setInterval(() => void tried(() => trimEvents(db)), TRIM_MS);

  return {
    async follow(projectId, { after, recent }, reader) {
      const begin = recent === undefined ? null : await readSeqBefore(db, projectId, recent);
      // nothing may come between this and joining it: the last reader takes the feed away as it leaves
      const feed = feeds.get(projectId) ?? new Feed(db, projectId);
      feeds.set(projectId, feed);
      const leave = () => {
        feed.leave(reader);
        if (feed.isIdle && feeds.get(projectId) === feed) feeds.delete(projectId);
      };
      reader.gone.addEventListener("abort", leave);
      try {
        await feed.join(reader, after ?? begin);
      } finally {
        if (reader.gone.aborted) leave();
      }
    },
    async close() {
      clearInterval(looks);
      clearInterval(trims);
      for (const feed of feeds.values()) feed.end("stopping");
      await listening.close();
    },
  };

  function hear(payload: string): void {
    const notice = parseJson(payload);
    const type = textField(notice, "type");
    changes.notify(type);
    if (type === "session") changes.notify(textField(notice, "id"));
    const feed = feeds.get(textField(notice, "project"));
    if (feed) void tried(() => feed.look());
  }

  async function lookAtAll(): Promise<void> {
    if (feeds.size === 0) return;
    await tried(async () => {
      const heads = await readHeads(db, [...feeds.keys()]);
      for (const [projectId, feed] of feeds) {
        const head = heads.get(projectId);
        if (head === undefined || !feed.knows(head)) await feed.look();
      }
    });
  }

  /** What the database does not answer now is read at the next look. */
  async function tried(work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => log.debug({ err: error }, "events could not be read"));
  }
}
