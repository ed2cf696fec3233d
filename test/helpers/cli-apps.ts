import type { App, AppLogs, Deployment, DeploymentDiff } from "../../src/contract/app.ts";
import type { AppDomain } from "../../src/contract/app-domain.ts";
import type { Preview } from "../../src/contract/preview.ts";

const TIME = "2026-11-20T10:00:00.000Z";

export function deployment(change: Partial<Deployment> = {}): Deployment {
  return {
    deployment_id: "66666666-6666-4666-8666-000000000001",
    number: 1,
    state: "live",
    reason: "changed",
    commit: "c".repeat(40),
    previous_commit: "b".repeat(40),
    rollback_to: null,
    error: null,
    created_by: null,
    author: null,
    created_at: TIME,
    live_at: TIME,
    ended_at: null,
    ...change,
  };
}

export function app(change: Partial<App> = {}): App {
  return {
    app_id: "77777777-7777-4777-8777-777777777777",
    slug: "web",
    change_request: null,
    name: null,
    type: "run",
    root_path: ".",
    enabled: true,
    access: "members",
    auto_deploy: true,
    state: "live",
    error: null,
    url: "http://web--shop.localhost:8008/",
    public_url: null,
    volume: null,
    live: deployment(),
    next: null,
    updated_at: TIME,
    ...change,
  };
}

const LOGS: AppLogs = {
  deployment: deployment(),
  lines: [{ at: TIME, source: "run", text: "listens" }],
  truncated: false,
};
const LINK: Preview = { url: "http://web--shop.localhost:8008/?token=x", expires_at: TIME };

const DIFF: DeploymentDiff = {
  base_sha: "b".repeat(40),
  head_sha: "c".repeat(40),
  files: [],
  files_changed: 0,
  additions: 0,
  deletions: 0,
  patch: "diff --git a/a b/a\n",
  truncated: false,
};

export function appDomain(change: Partial<AppDomain> = {}): AppDomain {
  return {
    domain: "www.example.com",
    state: "waiting",
    problem: "missing",
    record: { name: "_svc-challenge.www.example.com", value: "svc-verify=x" },
    target: "web--shop.localhost",
    url: null,
    served_until: null,
    checked_at: TIME,
    created_at: TIME,
    ...change,
  };
}

const ONE = "/projects/:p/apps/web";

const PREVIEW = "/projects/:p/change-requests/:n/apps/web";

/** A preview of the app in change request 3. */
export function previewOf(change: Partial<App> = {}): App {
  return app({ change_request: 3, url: "http://web-cr3-a1b2c3--shop.localhost:8008/", ...change });
}

/** The routes of a project with one app, which has a preview. */
export const APP_ROUTES = {
  "GET /projects/:p/change-requests/:n/apps": () => ({ apps: [previewOf()] }),
  [`GET ${PREVIEW}`]: () => ({ app: previewOf(), deployments: [deployment()], problem: null }),
  [`POST ${PREVIEW}/deploy`]: () => Response.json(previewOf(), { status: 202 }),
  [`GET ${PREVIEW}/logs`]: () => LOGS,
  [`POST ${PREVIEW}/preview`]: () => Response.json(LINK, { status: 201 }),
  "GET /projects/:p/apps": () => ({ apps: [app()] }),
  [`GET ${ONE}`]: () => ({ app: app(), deployments: [deployment()], problem: null }),
  [`POST ${ONE}/deploy`]: () => Response.json(app(), { status: 202 }),
  [`POST ${ONE}/stop`]: () => Response.json(app({ state: "stopped", live: null }), { status: 202 }),
  [`POST ${ONE}/rollback`]: () =>
    Response.json(
      app({ auto_deploy: false, next: deployment({ number: 3, state: "building", rollback_to: 1 }) }),
      {
        status: 202,
      },
    ),
  [`GET ${ONE}/deployments`]: () => ({ deployments: [deployment()] }),
  [`GET ${ONE}/deployments/1/diff`]: () => DIFF,
  [`GET ${ONE}/logs`]: () => LOGS,
  [`DELETE ${ONE}/volume`]: () => ({ ok: true }),
  [`GET ${ONE}/domains`]: () => ({ domains: [appDomain()] }),
  [`POST ${ONE}/domains`]: () => Response.json(appDomain(), { status: 201 }),
  [`POST ${ONE}/domains/www.example.com/verify`]: () =>
    appDomain({ state: "proven", problem: null, url: "https://www.example.com/" }),
  [`DELETE ${ONE}/domains/www.example.com`]: () => ({ ok: true }),
  [`POST ${ONE}/preview`]: () => Response.json(LINK, { status: 201 }),
};
