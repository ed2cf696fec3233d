import { and, asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { prepared } from "../../../../db/prepared.ts";
import { accountMembers, changeRequestPeople, changeRequests, users } from "../../../../db/schema/index.ts";
import type { Person } from "./named.ts";

export type Part = (typeof changeRequestPeople.$inferSelect)["part"];

interface PersonRow extends Person {
  crId: string;
  part: Part;
}

/**
 * The assignees and requested reviewers of change requests, the first asked first, without people who have left the account.
 */
export async function peopleOf(db: Db, crIds: readonly string[]): Promise<PersonRow[]> {
  if (crIds.length === 0) return [];
  return await ofMany(db).execute({ crIds: JSON.stringify(crIds) });
}

const { crId, part, userId, since } = changeRequestPeople;

const ofMany = prepared((db) =>
  db
    .select({ crId, part, userId, name: users.name })
    .from(changeRequestPeople)
    .innerJoin(users, eq(users.userId, userId))
    .innerJoin(changeRequests, eq(changeRequests.crId, crId))
    .innerJoin(
      accountMembers,
      and(eq(accountMembers.accountId, changeRequests.accountId), eq(accountMembers.userId, userId)),
    )
    .where(
      sql`${crId} in (select value::uuid from json_array_elements_text(${sql.placeholder("crIds")}::json))`,
    )
    .orderBy(asc(since), asc(users.name), asc(userId))
    .prepare("people_of_change_requests"),
);

/** A query for the ids of the change requests in which one of these people has a part. */
export function idsOfPeople(of: Part, userIds: readonly string[]): SQL {
  return sql`select ${crId} from ${changeRequestPeople} where ${inArray(userId, [...userIds])} and ${part} = ${of}`;
}
