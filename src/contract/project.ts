import { type Static, Type } from "@sinclair/typebox";
import { NAME_MAX, REPO_URL_MAX } from "./limits.ts";
import { budget, sessionBudget } from "./usage.ts";

const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time" });
const name = Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: "\\S" });
const ref = Type.String({ minLength: 1, maxLength: NAME_MAX * 2 });
const repoUrl = Type.String({ minLength: 1, maxLength: REPO_URL_MAX });

/** A project as it crosses the wire. No URL in it holds a credential. */
export const project = Type.Object({
  project_id: uuid,
  account_id: uuid,
  name: Type.String(),
  slug: Type.String(),
  repo_url: Type.String({
    description: "The URL at the git host, or at the git gateway if svc hosts the repository",
  }),
  git_url: Type.String({ description: "The URL at the git gateway, to clone from and push to" }),
  default_branch: Type.String(),
  protected_branches: Type.Array(Type.String(), {
    description:
      "The default branch, and former ones until an admin removes them; [branches] protected in the manifest adds to them",
  }),
  managed: Type.Boolean({ description: "Whether svc itself hosts the repository" }),
  manifest_path: Type.String(),
  model_budget: budget,
  model_session_budget: sessionBudget,
  created_at: time,
  updated_at: time,
});
export type Project = Static<typeof project>;

/** Answer of `PATCH /v1/projects/:id`. */
export const editedProject = Type.Composite([
  project,
  Type.Object({
    git_credential_dropped: Type.Boolean({
      description: "Whether the stored credential was removed, because it was for the previous repository",
    }),
  }),
]);
export type EditedProject = Static<typeof editedProject>;

const credentialSecret = Type.String({
  minLength: 1,
  maxLength: 16 * 1024,
  description: "A password or token for https, or a private key in OpenSSH format for ssh",
});

/** Body of `POST /v1/projects`. */
export const createProjectBody = Type.Object({
  name,
  repo_url: Type.Optional(repoUrl),
  default_branch: Type.Optional(ref),
  account_id: Type.Optional(uuid),
  git_username: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_MAX })),
  git_token: Type.Optional(credentialSecret),
});
export type CreateProjectBody = Static<typeof createProjectBody>;

/** Body of `PATCH /v1/projects/:id`. */
export const editProjectBody = Type.Object(
  {
    name: Type.Optional(name),
    repo_url: Type.Optional(repoUrl),
    default_branch: Type.Optional(ref),
    model_budget: Type.Optional(budget),
    model_session_budget: Type.Optional(sessionBudget),
  },
  { minProperties: 1 },
);
export type EditProjectBody = Static<typeof editProjectBody>;

/** Body of `PUT /v1/projects/:id/git-credential`. */
export const gitCredentialBody = Type.Object({
  username: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_MAX })),
  token: credentialSecret,
});
export type GitCredentialBody = Static<typeof gitCredentialBody>;

/** `?scope=` of `GET /v1/projects/:id/git/clone-credential`: without it, the credential pushes the session's branch. */
export const credentialScope = Type.Literal("saved");
export type CredentialScope = Static<typeof credentialScope>;

/** Answer of `GET /v1/projects/:id/git/clone-credential`: a credential for the git gateway, for the branch of one session. */
export const cloneCredential = Type.Object({
  repo_url: Type.String(),
  auth: Type.Object({ type: Type.Literal("basic"), username: Type.String(), token: Type.String() }),
  expires_at: time,
});
export type CloneCredential = Static<typeof cloneCredential>;
