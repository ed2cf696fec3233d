import { expect } from "bun:test";
import { asc, sql } from "drizzle-orm";
import * as schema from "../../db/schema/index.ts";
import type { RuntimePart } from "../../src/conversation/runtime-message.ts";
import { recapOf } from "../../src/features/sessions/conversation/recap.ts";
import { storeTurns } from "../../src/features/sessions/conversation/store.ts";
import { textOf } from "../../src/features/sessions/conversation/stored-text.ts";
import { Changes } from "../../src/lib/changes.ts";
import { openEarlier } from "../helpers/earlier-database.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";

/** The last migration of the version in which each row of a conversation had the id of its session. */
const BEFORE = 38;
const PART: RuntimePart = {
  ...{ partId: "prt_3", turnId: "msg_1", kind: "text", isComplete: true, text: "", tool: null, file: null },
  ...{ plan: null, parentId: null, request: null, hasFailed: false, mayLack: false, at: 1 },
};

needs("a real Postgres", POSTGRES)(
  "turns and parts of an earlier version stay those of their sessions, beside new ones",
  async () => {
    await using database = await openEarlier(BEFORE);
    const { query } = database;
    // without the sessions that they belong to
    await query("set session_replication_role = replica");
    for (const id of ["one", "two"])
      await query(`
      insert into conversations (session_id, version, last_turn, last_part) values ('${id}', 7, 1, 2);
      insert into conversation_turns (session_id, number, turn_id, generation, state, started_at, version)
        values ('${id}', 1, 'msg_1', 1, 'done', now(), 6);
      insert into conversation_parts (session_id, number, part_id, turn, kind, is_complete, text, bytes, at, version)
        values ('${id}', 1, 'prt_1', 1, 'prompt', true, 'to ${id}', 6, now(), 1),
          ('${id}', 2, 'prt_2', 1, 'text', true, 'of ${id}', 6, now(), 6)`);
    await query("set session_replication_role = origin");
    const db = await database.migrate();
    const texts = () =>
      query(`
      select session_id, turn_id, string_agg(p.text, ', ' order by p.number) as texts
        from conversations c
        join conversation_turns t on t.conversation = c.id
        join conversation_parts p on p.conversation = c.id and p.turn = t.number
        group by session_id, turn_id order by session_id`);
    const two = { session_id: "two", turn_id: "msg_1", texts: "to two, of two" };
    expect(await texts()).toEqual([{ session_id: "one", turn_id: "msg_1", texts: "to one, of one" }, two]);
    await query("delete from conversations where session_id = 'one'");
    expect(await texts()).toEqual([two]);
    expect(await query("select from conversation_parts")).toHaveLength(2);

    await db.execute(sql`set session_replication_role = replica`);
    const text = "It is stored deflated. ".repeat(300);
    await storeTurns(
      { db, changes: new Changes() },
      { sessionId: "two", generation: 1 },
      { turns: [], parts: [{ ...PART, text }], open: null },
      (given) => given,
    );
    const rows = await db
      .select()
      .from(schema.conversationParts)
      .orderBy(asc(schema.conversationParts.number));
    expect(rows.map(textOf)).toEqual(["to two", "of two", text]);
    expect(rows.map(({ deflatedText }) => deflatedText !== null)).toEqual([false, false, true]);
    expect(await recapOf(db, "two")).toEndWith(
      `to two\n\n## You\n\nof two\n\n${text.slice(0, 3_000).trimEnd()} …\n`,
    );
  },
);
