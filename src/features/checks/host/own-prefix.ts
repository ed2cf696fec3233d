/** Begins the names of svc's checks on a git host, where they must not replace others. */
export const OWN_PREFIX = "svc/";
