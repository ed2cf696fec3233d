import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { databaseTime } from "../../db/time.ts";
import { Changes } from "../../src/lib/changes.ts";
import { serve } from "../../src/serve.ts";
import { testConfig } from "../helpers/isolation.ts";
import { until } from "../helpers/until.ts";

/** Each periodic part of the server, by a name in `changes` that begins its next round. */
const LOOPS = ["jobs", "runs", "sessions", "apps", "trigger", "branch"];
/** At this interval, all of them together cost less than a thousandth of a core. */
const IDLE_MS = 30_000;
/** The first ones set up what is missing. */
const [FIRST_ROUNDS, ROUNDS] = [3, 5];

/** Records the rounds of the parts of the server, and how long they sleep. */
class RecordedChanges extends Changes {
  /** Names → the number of waits for them. */
  readonly waits = new Map<string, number>();
  /** Waits for the time alone. */
  sleeps: number[] = [];

  override async wait(name: string | readonly string[], ms: number, signal?: AbortSignal): Promise<void> {
    if (name.length === 0 && !signal?.aborted) this.sleeps.push(ms);
    for (const each of typeof name === "string" ? [name] : name)
      this.waits.set(each, (this.waits.get(each) ?? 0) + 1);
    await super.wait(name, ms, signal);
  }

  /** Begins a round of each part, after its last one has ended. */
  async nextRounds(): Promise<void> {
    for (const name of LOOPS) {
      const before = this.waits.get(name) ?? 0;
      await until(`a round of ${name}`, () => {
        this.notify(name);
        return (this.waits.get(name) ?? 0) > before;
      });
    }
  }
}

test("an idle server polls nothing more often than every half minute, and its rounds write nothing", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-idle-"));
  const settings = { SVC_PORT: "0", SVC_DATA_DIR: dataDir, SVC_SANDBOX_PROVIDER: "local" };
  const changes = new RecordedChanges();
  let database: Db | null = null;
  const server = await serve(testConfig({ ...settings, SVC_LOG_LEVEL: "error" }), {
    changes,
    databaseTime: async (db) => {
      // not a transaction
      if (!Reflect.has(db, "rollback")) database = db;
      return await databaseTime(db);
    },
  });
  try {
    for (let round = 0; round < FIRST_ROUNDS; round++) await changes.nextRounds();
    changes.sleeps = [];
    const position = sql<string>`pg_current_wal_insert_lsn()::text`;
    const written = async () =>
      await (database ?? expect.unreachable()).select({ position }).from(sql`(select) as nothing`);
    const before = await written();
    for (let round = 0; round < ROUNDS; round++) await changes.nextRounds();
    expect(await written()).toEqual(before);
    expect(changes.sleeps.filter((ms) => ms < IDLE_MS)).toEqual([]);
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
