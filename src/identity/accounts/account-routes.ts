import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  account,
  editAccountBody,
  editMemberBody,
  invitation,
  inviteBody,
  madeInvitation,
  member,
} from "../../contract/account.ts";
import type { Deps } from "../../deps.ts";
import { pageQuery, readPage } from "../../http/page.ts";
import { answer, listOf, ok, uuidParam } from "../../http/schema.ts";
import { guard } from "../auth/guard.ts";
import { editAccount, readAccount } from "./account.ts";
import { invite, listInvitations, withdrawInvitation } from "./invitations.ts";
import { changeRole, listMembers, removeMember } from "./members.ts";

const ofAccount = Type.Object({ accountId: uuidParam });
const ofMember = Type.Object({ accountId: uuidParam, userId: uuidParam });
const ofInvitation = Type.Object({ accountId: uuidParam, invitationId: uuidParam });

/** Routes of one account and its members. Each function checks the caller's role. */
export const oneAccountRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/accounts/:accountId", tags: ["accounts"] })
    .use(guard(deps))
    .get("", ({ caller, params }) => readAccount(deps, caller, params.accountId), {
      user: true,
      params: ofAccount,
      ...answer(200, account),
    })
    .patch("", ({ caller, params, body }) => editAccount(deps, caller, params.accountId, body), {
      user: true,
      params: ofAccount,
      body: editAccountBody,
      ...answer(200, account),
    })
    .get(
      "/members",
      ({ caller, params, query }) => listMembers(deps, caller, params.accountId, readPage(query)),
      {
        user: true,
        params: ofAccount,
        query: Type.Object(pageQuery),
        ...answer(200, listOf("members", member)),
      },
    )
    .patch(
      "/members/:userId",
      ({ caller, params, body }) => changeRole(deps, caller, params.accountId, params.userId, body.role),
      { user: true, params: ofMember, body: editMemberBody, ...answer(200, member) },
    )
    .delete(
      "/members/:userId",
      ({ caller, params }) => removeMember(deps, caller, params.accountId, params.userId),
      { user: true, params: ofMember, ...answer(200, ok) },
    )
    .get(
      "/invitations",
      ({ caller, params, query }) => listInvitations(deps, caller, params.accountId, readPage(query)),
      {
        user: true,
        params: ofAccount,
        query: Type.Object(pageQuery),
        ...answer(200, listOf("invitations", invitation)),
      },
    )
    .post(
      "/invitations",
      ({ caller, params, body, set }) => {
        set.status = 201;
        return invite(deps, caller, params.accountId, body);
      },
      { user: true, params: ofAccount, body: inviteBody, ...answer(201, madeInvitation) },
    )
    .delete(
      "/invitations/:invitationId",
      ({ caller, params }) => withdrawInvitation(deps, caller, params.accountId, params.invitationId),
      { user: true, params: ofInvitation, ...answer(200, ok) },
    );
