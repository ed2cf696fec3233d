import { sql } from "drizzle-orm";
import { readConfig } from "../../src/config.ts";
import { serve } from "../../src/serve.ts";
import { generator } from "./random.ts";

/**
 * The server as a process whose database has the clock of the table `test_clock`. It kills itself (SIGKILL) in one of
 * TEST_DIES_OF firings, drawn by TEST_SEED: when all of it is written, and nothing is committed.
 */
const diesOf = Number(process.env["TEST_DIES_OF"]);
const random = generator(Number(process.env["TEST_SEED"]));

const server = await serve(readConfig(process.env), {
  async databaseTime(db) {
    const [row] = await db.select({ at: sql`at::text`.mapWith(String) }).from(sql`test_clock`);
    return new Date(row?.at ?? Number.NaN);
  },
  checkpoint(step) {
    if (step !== "firing-recorded" || random(diesOf) > 0) return;
    process.kill(process.pid, "SIGKILL");
    return new Promise<void>(() => {});
  },
});
process.stderr.write(`the trigger server listens on ${server.url}\n`);
process.once("SIGTERM", () => void server.stop().then(() => process.exit(0)));
