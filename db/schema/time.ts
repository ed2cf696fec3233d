import { timestamp } from "drizzle-orm/pg-core";

/** A point in time; a `Date` in code. */
export const time = (name: string) => timestamp(name, { withTimezone: true });
