import { ROLES, type Role } from "../../../src/contract/role.ts";

export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  owner: "Owner",
  admin: "Admin",
  member: "Member",
};

/** The permissions of each role (contract: Account roles). */
export const ROLES_ABOUT =
  "Members work in all projects. Admins also manage members and delete projects. Owners also appoint owners.";

/** The roles that a user may give: only owners appoint owners. */
export function rolesToGive(isOwner: boolean): Role[] {
  return ROLES.filter((role) => isOwner || role !== "owner");
}
