import { index, pgEnum, pgTable, primaryKey, uuid } from "drizzle-orm/pg-core";
import { users } from "./account.ts";
import { changeRequests } from "./change-request.ts";
import { time } from "./time.ts";

export const crPart = pgEnum("cr_part", ["assignee", "reviewer"]);

/** Whom a change request is assigned to, and who is asked to review it until they have. */
export const changeRequestPeople = pgTable(
  "change_request_people",
  {
    crId: uuid("cr_id")
      .notNull()
      .references(() => changeRequests.crId, { onDelete: "cascade" }),
    part: crPart("part").notNull(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    since: time("since").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.crId, table.part, table.userId] }),
    // the change requests of a person
    index("change_request_people_user_id").on(table.userId, table.part, table.crId),
  ],
);
