import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { diffFile } from "./change-request.ts";
import { nullable, oneOf } from "./schema.ts";

/** Whether the manifest has the app. A `gone` app is no longer listed. */
export const APP_PRESENCE = ["enabled", "disabled", "gone"] as const;

/** A deployment is in progress (`building`, `starting`), served (`live`), or has ended. */
export const DEPLOYMENT_STATES = ["building", "starting", "live", "retired", "failed", "stopped"] as const;

/** Why a deployment was started: the app is new, has changed, was redeployed by hand, or was rolled back. */
export const DEPLOY_REASONS = ["created", "changed", "asked", "rollback"] as const;

/**
 * The state of an app: `deploying` during its first deployment, `live` also while a newer deployment is in progress,
 * `down` while the live deployment restarts, `failed` when the last deployment failed and nothing is served.
 */
export const APP_STATES = ["waiting", "deploying", "live", "down", "failed", "stopped", "disabled"] as const;
export type AppState = (typeof APP_STATES)[number];

const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time" });

export const deployment = Type.Object({
  deployment_id: uuid,
  number: Type.Integer(),
  state: oneOf(DEPLOYMENT_STATES),
  reason: oneOf(DEPLOY_REASONS),
  commit: Type.String(),
  previous_commit: nullable(
    Type.String({ description: "The commit that was live when it was started; null: none was" }),
  ),
  rollback_to: nullable(
    Type.Integer({ description: "Of a rollback: the number of the deployment that it deploys again" }),
  ),
  error: nullable(Type.String({ description: "Why it failed or was stopped, as a sentence" })),
  created_by: nullable(uuid),
  author: nullable(author),
  created_at: time,
  live_at: nullable(time),
  ended_at: nullable(time),
});
export type Deployment = Static<typeof deployment>;

/** An app. */
export const app = Type.Object({
  app_id: uuid,
  slug: Type.String(),
  change_request: nullable(
    Type.Integer({ description: "Of a preview: the number of its change request; null: an app" }),
  ),
  name: nullable(Type.String()),
  type: oneOf(["run", "static"]),
  root_path: Type.String(),
  enabled: Type.Boolean(),
  /** By the manifest of the default branch. */
  access: oneOf(["members", "public"]),
  auto_deploy: Type.Boolean({
    description: "Whether commits deploy it; false after a rollback, until it is deployed on demand",
  }),
  state: oneOf(APP_STATES),
  error: nullable(Type.String({ description: "Why it is not served, or why the last deployment failed" })),
  url: Type.String(),
  public_url: nullable(
    Type.String({
      description:
        "Where everybody can open it, at a domain of its own if it has one; null: nobody but members, also if the server forbids public apps",
    }),
  ),
  volume: nullable(
    Type.Object(
      {
        path: nullable(
          Type.String({
            description: "Where the program has it; null: the manifest does not use it any more",
          }),
        ),
        bytes: nullable(
          Type.Integer({ description: "Its size when it was last measured; null: it was not" }),
        ),
      },
      { description: "The directory that outlives its deployments; null: it has none" },
    ),
  ),
  live: nullable(deployment),
  next: nullable(deployment),
  updated_at: time,
});
export type App = Static<typeof app>;

/** The apps of a project, or the previews of a change request. */
export const appList = Type.Object({ apps: Type.Array(app) });
export type AppList = Static<typeof appList>;

/** Answer of `GET …/apps/:slug`, with the last deployments, newest first. */
export const appWithDeployments = Type.Object({
  app,
  deployments: Type.Array(deployment),
  problem: nullable(
    Type.String({ description: "What is wrong with the program of the live deployment now, as a sentence" }),
  ),
});
export type AppWithDeployments = Static<typeof appWithDeployments>;

/** Answer of `GET …/deployments/:number/diff`: what a deployment changed, from the commit that was live before it. */
export const deploymentDiff = Type.Object({
  base_sha: Type.String(),
  head_sha: Type.String(),
  files: Type.Array(diffFile),
  files_changed: Type.Integer(),
  additions: Type.Integer(),
  deletions: Type.Integer(),
  patch: Type.String(),
  patch_base64: Type.Optional(Type.String({ description: "The exact bytes, when the patch is not UTF-8" })),
  truncated: Type.Boolean(),
});
export type DeploymentDiff = Static<typeof deploymentDiff>;

/** Body of `POST …/rollback`. */
export const rollbackBody = Type.Object({
  deployment: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 999_999,
      description: "The number of the deployment to deploy again; by default the one that was live before",
    }),
  ),
});

/** The source of a line in the log of a deployment: svc, the build or the app. */
export const APP_LOG_SOURCES = ["svc", "build", "run"] as const;

export const appLogLine = Type.Object({
  at: nullable(time),
  source: oneOf(APP_LOG_SOURCES),
  text: Type.String(),
});
export type AppLogLine = Static<typeof appLogLine>;

/** Answer of `GET …/apps/:slug/logs`. */
export const appLogs = Type.Object({
  deployment: nullable(deployment),
  lines: Type.Array(appLogLine),
  truncated: Type.Boolean(),
});
export type AppLogs = Static<typeof appLogs>;
