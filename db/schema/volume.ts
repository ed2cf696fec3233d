import { bigint, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { apps } from "./app.ts";
import { sandboxProvider } from "./run.ts";
import { time } from "./time.ts";

/** The volumes of apps and previews: directories that outlive deployments. One that has no app is to be removed. */
export const volumes = pgTable(
  "volumes",
  {
    volumeId: uuid("volume_id").primaryKey().defaultRandom(),
    appId: uuid("app_id").references(() => apps.appId, { onDelete: "set null" }),
    provider: sandboxProvider("provider").notNull(),
    /** The server whose machine has it. */
    place: text("place").notNull(),
    /** The run whose sandbox may have it mounted; it is free once that run has ended. */
    runId: text("run_id"),
    /** Its size when it was last measured; null: it was not. */
    bytes: bigint("bytes", { mode: "number" }),
    measuredAt: time("measured_at"),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [uniqueIndex("volumes_app_id").on(table.appId)],
);
