import { inArray } from "drizzle-orm";
import { projectSessions } from "../../db/schema/index.ts";
import { LIVE_STATUSES } from "../contract/session.ts";

/** The rows of sessions that have a sandbox, or are to get one: what `isAlive` says of one that is read. */
export const isUp = inArray(projectSessions.status, [...LIVE_STATUSES]);
