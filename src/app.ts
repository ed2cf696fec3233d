import { Elysia } from "elysia";
import { SvcError } from "./contract/errors.ts";
import { type Health, health as healthSchema } from "./contract/health.ts";
import { acceptsPage } from "./contract/page.ts";
import { VERSION } from "./contract/version.ts";
import type { Deps } from "./deps.ts";
import { dashboardRoutes } from "./edge/dashboard/routes.ts";
import { executorRoutes } from "./edge/executor/routes.ts";
import { gatewayRoutes } from "./edge/gateway/routes.ts";
import { metricsRoutes } from "./edge/metrics-page.ts";
import { certificateRoutes } from "./edge/proxy/certificate-routes.ts";
import { proxyRoutes } from "./edge/proxy/routes.ts";
import { releaseRoutes, servedReleaseRoutes } from "./edge/releases/routes.ts";
import { appDomainRoutes } from "./features/apps/domains/routes.ts";
import { previewRoutes } from "./features/apps/previews/routes.ts";
import { appRoutes } from "./features/apps/routes.ts";
import { referencesIn } from "./features/change-requests/brief.ts";
import { commentRoutes } from "./features/change-requests/comments/routes.ts";
import { labelRoutes } from "./features/change-requests/labels/routes.ts";
import { approvalRoutes, crCheckRoutes } from "./features/change-requests/review-routes.ts";
import {
  changeRequestRoutes,
  historyRoutes,
  mergeQueueRoutes,
  mergeRoutes,
} from "./features/change-requests/routes.ts";
import { templateRoutes } from "./features/change-requests/templates/routes.ts";
import { channelRoutes } from "./features/channels/routes.ts";
import { slackRoutes } from "./features/channels/slack-routes.ts";
import { githubRoutes } from "./features/checks/github/routes.ts";
import { checkRoutes } from "./features/checks/routes.ts";
import { checkRunRoutes } from "./features/checks/runs/routes.ts";
import { connectorRoutes } from "./features/connectors/routes.ts";
import { inboxRoutes } from "./features/inbox/routes.ts";
import { manifestRoutes } from "./features/manifest/routes.ts";
import { modelRoutes } from "./features/models/routes.ts";
import { networkRoutes } from "./features/network/routes.ts";
import { notificationRoutes } from "./features/notifications/routes.ts";
import { projectRoutes, projectTokenRoutes } from "./features/projects/routes.ts";
import { repositoryRoutes } from "./features/repository/routes.ts";
import { ownSecretRoutes } from "./features/secrets/own/routes.ts";
import { secretRoutes } from "./features/secrets/routes.ts";
import { conversationRoutes } from "./features/sessions/conversation/routes.ts";
import { execRoutes } from "./features/sessions/exec/routes.ts";
import type { ReferencesIn } from "./features/sessions/prompts/attachments.ts";
import { promptRoutes } from "./features/sessions/prompts/routes.ts";
import { runtimeRoutes, sessionContentRoutes, sessionRoutes } from "./features/sessions/routes.ts";
import { workspaceRoutes } from "./features/sessions/workspace/routes.ts";
import { triesRoutes } from "./features/tries/routes.ts";
import { triggerRoutes } from "./features/triggers/routes.ts";
import { webhookRoutes } from "./features/triggers/webhook-routes.ts";
import { projectWebhookRoutes } from "./features/webhooks/routes.ts";
import { readJson } from "./http/body.ts";
import { errorPage } from "./http/error-page.ts";
import { toBody, toSvcError } from "./http/errors.ts";
import { setFormats } from "./http/formats.ts";
import { methodTable, unanswered } from "./http/methods.ts";
import { openapiDocument } from "./http/openapi/document.ts";
import { requestIdOf } from "./http/request-id.ts";
import { answer } from "./http/schema.ts";
import { oneAccountRoutes } from "./identity/accounts/account-routes.ts";
import { accountRoutes, signingKeyRoutes } from "./identity/accounts/routes.ts";
import { auditRoutes } from "./identity/audit/routes.ts";
import { authRoutes } from "./identity/auth/routes.ts";
import { deviceRoutes } from "./identity/device/routes.ts";
import { signInRoutes } from "./identity/sign-in/routes.ts";

/** Their signatures cover the raw bytes of the body, so their handlers read it. */
const SIGNED = ["/v1/webhooks/", "/v1/channels/"];

/** Headers of every response. Those of the API contain tokens, links and credentials, and depend on the caller. */
function headersOf(request: Request, id: string): Record<string, string> {
  const isApi = new URL(request.url).pathname.startsWith("/v1/");
  return {
    "x-request-id": id,
    "x-content-type-options": "nosniff",
    ...(isApi && { "cache-control": "no-store" }),
  };
}

/**
 * The HTTP API. Errors, limits and logging first, since hooks bind only what is registered after them; then the
 * features under /v1.
 */
export function createApp(deps: Deps) {
  setFormats();
  const started = new WeakMap<Request, number>();
  const app = new Elysia({ normalize: false })
    .onRequest(({ request, set }) => {
      started.set(request, performance.now());
      Object.assign(set.headers, headersOf(request, requestIdOf(request)));
    })
    .onError(({ error, code, request, path, set }) => {
      const id = requestIdOf(request);
      const failure = code === "NOT_FOUND" ? unanswered(methods(path)) : toSvcError(error, code, id);
      if (failure.status >= 500 && !(error instanceof SvcError)) logFailure(deps, id, failure, error);
      if (acceptsPage(request.headers.get("accept"))) return errorPage(failure, { "x-request-id": id });
      set.status = failure.status;
      Object.assign(set.headers, failure.headers, { "x-request-id": id });
      return toBody(failure);
    })
    .onParse(({ request, path }) =>
      SIGNED.some((prefix) => path.startsWith(prefix)) ? null : readJson(request),
    )
    .onAfterResponse(({ request, route, set }) => {
      const status = typeof set.status === "number" ? set.status : 200;
      const now = performance.now();
      const ms = now - (started.get(request) ?? now);
      recordRequest(deps, { id: requestIdOf(request), method: request.method, route, status, ms });
    })
    .use(metricsRoutes(deps))
    .group("/v1", (v1) =>
      v1
        .get("/health", () => health(deps), { tags: ["server"], ...answer(200, healthSchema) })
        .get("/openapi.json", () => document(), { detail: { hide: true } })
        .use(servedReleaseRoutes(deps))
        .use(authRoutes(deps))
        .use(signInRoutes(deps))
        .use(deviceRoutes(deps))
        .use(accountRoutes(deps))
        .use(signingKeyRoutes(deps))
        .use(oneAccountRoutes(deps))
        .use(auditRoutes(deps))
        .use(notificationRoutes(deps))
        .use(inboxRoutes(deps))
        .use(ownSecretRoutes(deps))
        .use(modelRoutes(deps))
        .use(projectRoutes(deps))
        .use(projectTokenRoutes(deps))
        .use(gatewayRoutes(deps))
        .use(manifestRoutes(deps))
        .use(secretRoutes(deps))
        .use(projectWebhookRoutes(deps))
        .use(connectorRoutes(deps))
        .use(repositoryRoutes(deps))
        .use(allSessionRoutes(deps))
        .use(proxyRoutes(deps))
        .use(certificateRoutes(deps))
        .use(appRoutes(deps))
        .use(appDomainRoutes(deps))
        .use(previewRoutes(deps))
        .use(allChangeRequestRoutes(deps))
        .use(checkRoutes(deps))
        .use(checkRunRoutes(deps))
        .use(githubRoutes(deps))
        .use(triesRoutes(deps))
        .use(triggerRoutes(deps))
        .use(webhookRoutes(deps))
        .use(channelRoutes(deps))
        .use(slackRoutes(deps))
        .use(executorRoutes(deps)),
    )
    .use(releaseRoutes(deps))
    .use(dashboardRoutes());
  const methods = methodTable(app.routes);
  let made: ReturnType<typeof openapiDocument> | null = null;
  /** Made by the first request, from all routes. */
  function document() {
    made ??= openapiDocument(app.routes);
    return made;
  }

  return app;
}

/** What is below the change requests of a project. */
function allChangeRequestRoutes(deps: Deps) {
  return new Elysia()
    .use(changeRequestRoutes(deps))
    .use(historyRoutes(deps))
    .use(mergeRoutes(deps))
    .use(mergeQueueRoutes(deps))
    .use(approvalRoutes(deps))
    .use(templateRoutes(deps))
    .use(labelRoutes(deps))
    .use(crCheckRoutes(deps))
    .use(commentRoutes(deps));
}

/** What is below the sessions of a project. */
function allSessionRoutes(deps: Deps) {
  const references: ReferencesIn = (project, text) => referencesIn(deps, project, text);
  return new Elysia()
    .use(sessionRoutes(deps, references))
    .use(sessionContentRoutes(deps))
    .use(networkRoutes(deps))
    .use(execRoutes(deps))
    .use(workspaceRoutes(deps))
    .use(runtimeRoutes(deps))
    .use(conversationRoutes(deps))
    .use(promptRoutes(deps, references));
}

/** Logs a failure of the server, with its cause if it is unexpected. */
function logFailure({ log }: Deps, request: string, { code, message }: SvcError, error: unknown): void {
  log.error({ request, err: code === "internal" ? error : undefined }, message);
}

/** Records a finished request in the metrics and the log. @param request `ms` is its duration */
function recordRequest(
  { metrics, log }: Deps,
  request: { id: string; method: string; route: string | undefined; status: number; ms: number },
): void {
  const { id, method, route, status, ms } = request;
  metrics.requestSeconds.observe({ method, route: route ?? "none", status }, ms / 1000);
  log.info({ request: id, method, route, status, ms: Math.round(ms) }, "answered");
}

function health(deps: Deps): Health {
  return { status: "ok", service: "svc-api", version: VERSION, database: deps.databaseKind };
}
