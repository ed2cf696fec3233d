/** The most that is read of each: open change requests of others and of the caller, and sessions open and recent. */
export const READ_MAX = 100;

/** For how many days a session that has ended is shown. */
export const RECENT_DAYS = 3;
