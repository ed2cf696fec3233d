import { afterAll, beforeEach, expect } from "bun:test";
import { randomBytes } from "node:crypto";
import { asc, sql } from "drizzle-orm";
import { databaseErrorCode } from "../../db/errors.ts";
import { auditEvents, auditHead } from "../../db/schema/index.ts";
import { sealEntries } from "../../src/identity/audit/seal.ts";
import { trimAudit } from "../../src/identity/audit/trim.ts";
import { verifyAudit } from "../../src/identity/audit/verify.ts";
import { audit } from "../../src/identity/auth/audit.ts";
import { createKeys } from "../../src/keys.ts";
import { openAccountRows } from "../helpers/account-rows.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";

const test = needs("a real Postgres", POSTGRES);
const rows = POSTGRES ? await openAccountRows() : null;
afterAll(() => rows?.database.close());

function bench() {
  if (rows === null) throw new Error("the test needs a real Postgres");
  return { deps: rows.deps, db: rows.deps.db };
}

/** Runs a statement as somebody who owns the table. */
async function tamper(statement: string) {
  const { db } = bench();
  await db.transaction(async (tx) => {
    await tx.execute(sql.raw("alter table audit_events disable trigger user"));
    await tx.execute(sql.raw(statement));
    await tx.execute(sql.raw("alter table audit_events enable trigger user"));
  });
}

const record = async (target: string) => {
  const { db } = bench();
  await audit(
    db,
    { userId: null },
    { action: "token.created", target, details: { b: 1, a: { d: 2, c: [1] } } },
  );
};

async function seal(batch?: number) {
  while (await sealEntries(bench().deps, batch));
}

const positions = async () =>
  (
    await bench()
      .db.select({ target: auditEvents.target, position: auditEvents.position })
      .from(auditEvents)
      .orderBy(asc(auditEvents.auditId))
  ).map(({ target, position }) => `${target} ${position}`);

beforeEach(async () => {
  if (rows === null) return;
  await tamper("delete from audit_events");
  await bench().db.delete(auditHead);
});

test("sealed entries are chained in the order of their ids, in batches, and each once", async () => {
  for (const target of ["a", "b", "c"]) await record(target);
  expect(await verifyAudit(bench().deps)).toMatchObject({ sealed: 0, unsealed: 3, fault: null });
  await seal(2);
  await record("d");
  await seal(2);
  expect(await sealEntries(bench().deps)).toBe(false);
  expect(await positions()).toEqual(["a 1", "b 2", "c 3", "d 4"]);
  // in batches, too
  for (const batch of [1, 2, 100])
    expect(await verifyAudit(bench().deps, batch)).toMatchObject({
      sealed: 4,
      unsealed: 0,
      head: { position: 4 },
      fault: null,
    });
});

test("an entry whose transaction commits late gets a later place", async () => {
  const { db } = bench();
  const late = Promise.withResolvers<void>();
  const recorded = Promise.withResolvers<void>();
  const work = db.transaction(async (tx) => {
    await audit(tx, { userId: null }, { action: "token.created", target: "late" });
    recorded.resolve();
    await late.promise;
  });
  await recorded.promise;
  await record("early");
  await seal();
  late.resolve();
  await work;
  await seal();
  expect(await positions()).toEqual(["late 2", "early 1"]);
  expect(await verifyAudit(bench().deps)).toMatchObject({ sealed: 2, fault: null });
});

const CHANGES: readonly [string, string][] = [
  ["the target", "update audit_events set target = 'x' where position = 2"],
  ["the action", "update audit_events set action = 'token.revoked' where position = 2"],
  ["the accounts", "update audit_events set account_ids = array[gen_random_uuid()] where position = 2"],
  ["the project", "update audit_events set project_id = gen_random_uuid() where position = 2"],
  ["the id of the target", "update audit_events set target_id = 'x' where position = 2"],
  ["the person", "update audit_events set user_id = gen_random_uuid() where position = 2"],
  ["the name", "update audit_events set user_name = 'x' where position = 2"],
  ["the e-mail address", "update audit_events set user_email = 'x' where position = 2"],
  ["the actor", `update audit_events set actor = '{"kind": "token", "name": "x"}' where position = 2`],
  ["the token", "update audit_events set token_id = gen_random_uuid() where position = 2"],
  ["the address", "update audit_events set address = 'x' where position = 2"],
  ["the request", "update audit_events set request_id = 'x' where position = 2"],
  ["the details", `update audit_events set details = '{"b": 2, "a": {"d": 2, "c": [1]}}' where position = 2`],
  ["the time", "update audit_events set created_at = created_at + interval '1 ms' where position = 2"],
  ["the hash", "update audit_events set hash = repeat('0', 64) where position = 2"],
  ["the hash before", "update audit_events set previous_hash = repeat('0', 64) where position = 2"],
  ["the order", "update audit_events set audit_id = 1000000 where position = 2"],
  ["a removed entry", "delete from audit_events where position = 2"],
  ["a removed end", "delete from audit_events where position = 3"],
  ["another end", "update audit_head set hash = repeat('0', 64)"],
  [
    "an earlier end",
    "update audit_head set position = 2, hash = (select hash from audit_events where position = 2)",
  ],
  ["no end", "delete from audit_head"],
];

test("each change of a sealed entry breaks the chain, and is refused by the database without the trigger's leave", async () => {
  const { db, deps } = bench();
  const kept: string[] = [];
  for (const target of ["a", "b", "c"]) await record(target);
  await seal();
  await tamper("create table kept as table audit_events");
  await tamper("create table kept_head as table audit_head");
  for (const [what, statement] of CHANGES) {
    await tamper(statement);
    const { fault } = await verifyAudit(deps);
    if (fault === null) kept.push(what);
    await tamper("delete from audit_events");
    await tamper("insert into audit_events select * from kept");
    await tamper("delete from audit_head");
    await tamper("insert into audit_head select * from kept_head");
    if (!statement.includes("audit_head"))
      expect([what, await refusal(db.execute(sql.raw(statement)))]).toEqual([what, "23001"]);
  }
  await tamper("drop table kept, kept_head");
  expect(kept).toEqual([]);
  expect(await refusal(db.execute(sql.raw("truncate audit_events")))).toBe("23001");
  expect((await verifyAudit({ db, keys: createKeys(randomBytes(32)) })).fault).toContain(
    "another master key",
  );
  expect(await verifyAudit(deps)).toMatchObject({ sealed: 3, fault: null });
});

/** The SQLSTATE with which the database refuses. */
async function refusal(work: PromiseLike<unknown>): Promise<unknown> {
  try {
    await work;
    return "accepted";
  } catch (error) {
    return databaseErrorCode(error);
  }
}

test.each([1, 2, 3, 100])(
  "old entries are deleted from the beginning, as far as all are old, in batches of %d",
  async (batch) => {
    const { db, deps } = bench();
    for (const target of ["old", "older", "new", "old again", "unsealed"]) {
      if (target === "unsealed") await seal();
      await record(target);
      const days = { old: 11, older: 12, new: 9, "old again": 13, unsealed: 14 }[target];
      await tamper(
        `update audit_events set created_at = date_trunc('milliseconds', now()) - interval '${days} days' where target = '${target}'`,
      );
    }
    await trimAudit(db, 10, batch);
    expect(await positions()).toEqual(["new 3", "old again 4", "unsealed null"]);
    expect(await verifyAudit(deps)).toMatchObject({
      ...{ sealed: 2, unsealed: 1, fault: null },
      first: { position: 3 },
    });
    await trimAudit(db, 8, batch);
    await seal();
    expect(await positions()).toEqual(["unsealed 5"]);
    expect(await verifyAudit(deps)).toMatchObject({ sealed: 1, head: { position: 5 }, fault: null });
  },
);

test("servers that write and seal at once lose no entry, and seal none twice", async () => {
  const { db, deps } = bench();
  const aborted = new Error("aborted");
  const writer = async (name: string) => {
    for (let count = 0; count < 20; count++)
      await db
        .transaction(async (tx) => {
          await audit(tx, { userId: null }, { action: "token.created", target: `${name} ${count}` });
          if (count % 4 === 0) throw aborted;
        })
        .catch((error: unknown) => {
          if (error !== aborted) throw error;
        });
  };
  let isWriting = true;
  const sealer = async () => {
    while (isWriting) await sealEntries(deps, 7);
  };
  const sealers = [sealer(), sealer()];
  await Promise.all(["one", "two", "three"].map(writer));
  isWriting = false;
  await Promise.all(sealers);
  await seal();
  expect(await verifyAudit(deps)).toMatchObject({
    sealed: 45,
    unsealed: 0,
    head: { position: 45 },
    fault: null,
  });
});
