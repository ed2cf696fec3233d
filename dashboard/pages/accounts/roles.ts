import { ROLES, type Role } from "../../../src/contract/role.ts";

export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  owner: "Owner",
  admin: "Admin",
  member: "Member",
};

/** What a role may do (contract: Account roles), for who chooses one. */
export const ROLE_MEANS =
  "Members work in all projects. Admins also manage members and delete projects. Owners also make owners.";

/** The roles that somebody may give: only an owner makes owners. */
export function rolesToGive(isOwner: boolean): Role[] {
  return ROLES.filter((role) => isOwner || role !== "owner");
}
