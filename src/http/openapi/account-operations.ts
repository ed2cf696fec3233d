import type { Operations } from "./operations.ts";

/** Operations of people and their accounts. */
export const ACCOUNT_OPERATIONS = {
  "GET /v1/accounts/me": ["getMe", "Get the user and the user's accounts"],
  "GET /v1/accounts/tokens": ["listTokens", "List the user's tokens"],
  "POST /v1/accounts/tokens": ["createToken", "Create a user token"],
  "DELETE /v1/accounts/tokens/:tokenId": ["revokeToken", "Revoke a user token"],
  "GET /v1/accounts/sign-ins": ["listSignIns", "List the browsers in which the user is signed in"],
  "DELETE /v1/accounts/sign-ins/:signInId": ["endSignIn", "Sign a browser of the user out"],
  "GET /v1/accounts/inbox": ["getInbox", "Get what waits for the user, and the user's sessions"],
  "GET /v1/accounts/notifications": ["listNotifications", "List what the user was notified of"],
  "POST /v1/accounts/notifications/read": ["readNotifications", "Mark notifications as read"],
  "GET /v1/accounts/notifications/settings": [
    "getNotificationSettings",
    "Get how the user is notified of each event",
  ],
  "PATCH /v1/accounts/notifications/settings": [
    "editNotificationSettings",
    "Change how the user is notified of events",
  ],
  "POST /v1/accounts/notifications/browsers": ["addPushBrowser", "Switch push on in a browser"],
  "DELETE /v1/accounts/notifications/browsers/:browserId": [
    "removePushBrowser",
    "Switch push off in a browser",
  ],
  "GET /v1/accounts/secrets": ["listOwnSecrets", "List the names of the user's own secrets"],
  "PUT /v1/accounts/secrets/:name": ["setOwnSecret", "Set a secret of the user"],
  "DELETE /v1/accounts/secrets/:name": ["deleteOwnSecret", "Delete a secret of the user"],
  "PUT /v1/accounts/secrets/:name/projects/:projectId": [
    "allowOwnSecret",
    "Give a secret of the user to a project",
  ],
  "DELETE /v1/accounts/secrets/:name/projects/:projectId": [
    "denyOwnSecret",
    "Take a secret of the user from a project",
  ],
  "GET /v1/users/me/signing-keys": ["listSigningKeys", "List the user's signing keys"],
  "POST /v1/users/me/signing-keys": ["addSigningKey", "Add a signing key of the user"],
  "DELETE /v1/users/me/signing-keys/:keyId": ["removeSigningKey", "Remove a signing key of the user"],
  "GET /v1/accounts/:accountId": ["getAccount", "Get an account"],
  "PATCH /v1/accounts/:accountId": ["editAccount", "Edit an account"],
  "GET /v1/accounts/:accountId/audit": ["listAudit", "List the audit log of an account"],
  "GET /v1/accounts/:accountId/usage": ["getUsage", "Get an account's model usage"],
  "GET /v1/accounts/:accountId/members": ["listMembers", "List the members of an account"],
  "PATCH /v1/accounts/:accountId/members/:userId": ["changeMemberRole", "Change the role of a member"],
  "DELETE /v1/accounts/:accountId/members/:userId": ["removeMember", "Remove a member from an account"],
  "GET /v1/accounts/:accountId/invitations": ["listInvitations", "List the open invitations of an account"],
  "POST /v1/accounts/:accountId/invitations": ["createInvitation", "Invite to an account"],
  "DELETE /v1/accounts/:accountId/invitations/:invitationId": [
    "withdrawInvitation",
    "Withdraw an invitation",
  ],
} as const satisfies Operations;
