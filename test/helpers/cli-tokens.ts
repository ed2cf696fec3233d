import type { MintUserTokenBody, ProjectToken, UserToken } from "../../src/contract/account.ts";
import type { SignIn } from "../../src/contract/sign-in.ts";

const token: UserToken = {
  token_id: "7f3a0000-0000-4000-8000-000000000001",
  name: "laptop",
  scopes: ["write"],
  created_at: "2026-11-20T10:00:00.000Z",
  last_used_at: null,
  expires_at: "2027-02-18T10:00:00.000Z",
};

const signIn: SignIn = {
  sign_in_id: "8f3a0000-0000-4000-8000-000000000001",
  user_agent: "Mozilla/5.0",
  address: "127.0.0.1",
  created_at: "2026-11-20T10:00:00.000Z",
  last_used_at: "2026-11-20T10:00:00.000Z",
  expires_at: "2026-12-20T10:00:00.000Z",
  is_current: false,
};

/** A server's responses about browsers that are signed in. */
export const SIGN_IN_ROUTES = {
  "GET /accounts/sign-ins": () => ({ sign_ins: [signIn] }),
  [`DELETE /accounts/sign-ins/${signIn.sign_in_id}`]: () => ({ ok: true }),
};

/** A server's responses about tokens: those of the user, and of a project. */
export function tokenRoutes(projectId: string) {
  const ofProject: ProjectToken = {
    ...token,
    name: "ci",
    scopes: ["checks"],
    project_id: projectId,
    session_id: null,
  };
  const made =
    (base: UserToken | ProjectToken) =>
    ({ body }: { body: unknown }) =>
      Response.json(
        {
          ...base,
          scopes: ["write"],
          expires_at: null,
          ...(body as MintUserTokenBody),
          token: "svc_pat_new",
        },
        { status: 201 },
      );
  const at = { own: "/accounts/tokens", project: "/projects/:p/cli-token" };
  return {
    [`GET ${at.own}`]: () => ({ tokens: [token] }),
    [`POST ${at.own}`]: made(token),
    [`DELETE ${at.own}/${token.token_id}`]: () => ({ ok: true }),
    [`GET ${at.project}`]: () => ({ tokens: [ofProject] }),
    [`POST ${at.project}`]: made(ofProject),
    [`DELETE ${at.project}/${token.token_id}`]: () => ({ ok: true }),
  };
}
