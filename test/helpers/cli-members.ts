import type { EditAccountBody, Invitation, InviteBody, Me, Member } from "../../src/contract/account.ts";
import type { AuditEvent } from "../../src/contract/audit.ts";

const created_at = "2026-11-20T10:00:00.000Z";

export const MEMBERS: readonly Member[] = [
  {
    user_id: "9a1b0000-0000-4000-8000-000000000001",
    email: "ada@example.com",
    name: "Ada",
    role: "member",
    created_at,
  },
  {
    user_id: "9a1c0000-0000-4000-8000-000000000002",
    email: "bob@example.com",
    name: "Bob",
    role: "owner",
    created_at,
  },
];

const AUDIT: AuditEvent = {
  id: 7,
  created_at,
  action: "token.created",
  actor: {
    user_id: "9a1c0000-0000-4000-8000-000000000002",
    name: "Bob",
    email: "bob@example.com",
    kind: "user",
    session_id: null,
    token_id: null,
    token_name: null,
  },
  target: "laptop",
  target_id: "9a1c0000-0000-4000-8000-000000000009",
  project_id: null,
  address: "192.0.2.1",
  request_id: null,
  details: {},
  position: 7,
  hash: "a".repeat(64),
};

const invitation: Invitation = {
  invitation_id: "6b1b0000-0000-4000-8000-000000000001",
  email: null,
  role: "member",
  created_by: null,
  created_at,
  expires_at: "2026-11-27T10:00:00.000Z",
};

/** A server's responses about an account and its members. */
export function memberRoutes({ account_id, name, slug, role, tier }: Me["accounts"][number]) {
  const at = `/accounts/${account_id}`;
  const account = {
    account_id,
    name,
    slug,
    role,
    tier,
    model_budget: null,
    model_session_budget: null,
    created_at,
  };
  return {
    [`PATCH ${at}`]: ({ body }: { body: unknown }) => ({ ...account, ...(body as EditAccountBody) }),
    [`GET ${at}/audit`]: () => ({ audit_events: [AUDIT] }),
    [`GET ${at}/members`]: () => ({ members: MEMBERS }),
    [`GET ${at}/invitations`]: () => ({ invitations: [invitation] }),
    [`POST ${at}/invitations`]: ({ body }: { body: unknown }) =>
      Response.json(
        { ...invitation, ...(body as InviteBody), url: "https://svc.example/welcome?token=svc_ln_new" },
        { status: 201 },
      ),
    [`DELETE ${at}/invitations/${invitation.invitation_id}`]: () => ({ ok: true }),
    ...Object.fromEntries(
      MEMBERS.flatMap((member) => [
        [
          `PATCH ${at}/members/${member.user_id}`,
          ({ body }: { body: unknown }) => ({ ...member, ...(body as Pick<Member, "role">) }),
        ],
        [`DELETE ${at}/members/${member.user_id}`, () => ({ ok: true })],
      ]),
    ),
  };
}
