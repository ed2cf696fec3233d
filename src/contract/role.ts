/** Roles of a member in an account: each may write in its projects; owner and admin also delete projects. */
export const ROLES = ["owner", "admin", "member"] as const;
export type Role = (typeof ROLES)[number];
