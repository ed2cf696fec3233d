import { DAEMON_PORT } from "../../contract/daemon.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { previewSite } from "../../features/apps/site.ts";
import type { ModelGateway } from "../../features/models/gateway.ts";
import { isModelPath } from "../../features/models/paths.ts";
import { bodyMaxOf } from "../../http/body.ts";
import { isKnownMethod, type MethodsOf, unanswered } from "../../http/methods.ts";
import type { Credentials } from "../../identity/auth/caller.ts";
import { cookieSecret } from "../../identity/auth/cookie.ts";
import type { Decide, Decision, Explain } from "../../splice/connection.ts";
import { type Field, fieldOf } from "../../splice/fields.ts";
import type { RequestHead } from "../../splice/head.ts";
import { rewriteRequestHead } from "../../splice/rewrite.ts";
import type { Address } from "../../splice/upstream.ts";
import { isGitPath } from "../gateway/gateway.ts";
import { createAdmission } from "./admission.ts";
import { createApps, refuseForApp } from "./apps.ts";
import { type Client, clientOf } from "./client.ts";
import { createDomains } from "./domains.ts";
import { createForward } from "./forward.ts";
import { readAppHost, readPreviewHost } from "./preview-host.ts";
import { createPreviews } from "./previews.ts";
import { ofHttp, refuse } from "./refuse.ts";
import { isSandboxTarget, readSandboxTarget } from "./target.ts";

export interface Front {
  decide: Decide;
  explain: Explain;
  /** Rejects new requests, except from sandboxes that save their work: the server is shutting down. */
  close(): void;
}

/** The requests by which a sandbox's daemon saves work, and its agent's record. */
const SAVES = /^\/v1\/(?:git\/|projects\/[^/?]+\/git\/(?:clone-credential|agent-record)(?:\?|$))/;

/**
 * Routes the requests of the public listener: those for apps and previews by their host names, those for sandboxes to their daemons, those for models to the
 * model gateway, all others to the API.
 *
 * 1. The target of a request is normalized (`target.ts`) and refused in any other spelling.
 * 2. `admission.ts` finds who may reach the session, and caches that for a second. `not-running.ts` answers for a
 *    session without a sandbox, and starts it.
 * 3. `forward.ts` rewrites the head: it removes svc's own headers and cookies, and adds the signed caller (`signer.ts`).
 *    All other bytes are forwarded unread and unbuffered.
 *
 * @param api where the API listens
 * @param methods the methods of its routes
 * @param models answers requests for models
 */
export function createFront(
  deps: Deps,
  api: Address,
  methods: MethodsOf,
  models: Pick<ModelGateway, "decide" | "explain">,
): Front {
  const admission = createAdmission(deps);
  const pass = createForward(deps);
  const previews = createPreviews(deps, admission, pass);
  const apps = createApps(deps, api);
  const previewOf = (head: RequestHead) => readPreviewHost(head.host, previewSite(deps).host);
  const appOf = (head: RequestHead) => readAppHost(head.host, previewSite(deps).host);
  const domains = createDomains(deps, apps);

  let isClosing = false;

  return {
    close() {
      isClosing = true;
    },
    decide(head, peer) {
      const client = clientOf(deps.config, head, peer.address);
      if (isClosing && !SAVES.test(head.target)) return { answer: refuse(deps, stopping(), head) };
      const place = previewOf(head);
      if (place) return orRefuse(head, () => previews(head, client, place));
      const label = appOf(head);
      if (label) return orRefuse(head, () => apps(head, client, { label, domain: null }));
      const domain = domains.domainOf(head);
      if (domain !== null)
        return orRefuse(head, () => domains.visit(head, client, domain, () => elsewhere(head, client)));
      return elsewhere(head, client);
    },
    explain(status, message, head) {
      if (head !== null && (appOf(head) !== null || domains.isOfApp(head)))
        return refuseForApp(deps, status, message, head);
      if (head !== null && previewOf(head) === null && isModelPath(head.target))
        return models.explain(ofHttp(status, message), head);
      const isForSandbox = head !== null && (previewOf(head) !== null || isSandboxTarget(head.target));
      return refuse(deps, explain(status, message, isForSandbox), head);
    },
  };

  /** A request for a sandbox, for models or for the API. */
  function elsewhere(head: RequestHead, client: Client): Decision | Promise<Decision> {
    if (isSandboxTarget(head.target)) return orRefuse(head, () => toSandbox(head, client));
    if (!isKnownMethod(head.method)) {
      const [path = ""] = head.target.split("?", 1);
      return { answer: refuse(deps, unanswered(methods(path)), head) };
    }
    if (isModelPath(head.target)) return models.decide(head);
    // a push has its own limits, and is streamed
    const maxBytes = isGitPath(head.target) ? {} : { maxBytes: bodyMaxOf(head.target) };
    return { to: api, head: forApi(head, client), ...maxBytes };
  }

  function toSandbox(head: RequestHead, client: Client): Decision | Promise<Decision> {
    const asked = readSandboxTarget(head.target);
    const seen = { host: `localhost:${asked.port}`, origin: null, authorization: false };
    const visit = { head, client, seen, ...asked };
    const admitted = admission.byCredentials(credentialsOf(deps, head, asked.port), visit.sessionId);
    return admitted instanceof Promise ? admitted.then((found) => pass(found, visit)) : pass(admitted, visit);
  }

  function orRefuse(
    head: RequestHead,
    decide: () => Decision | Promise<Decision>,
  ): Decision | Promise<Decision> {
    const refused = (error: unknown) => ({ answer: refuse(deps, error, head) });
    try {
      const decision = decide();
      return decision instanceof Promise ? decision.catch(refused) : decision;
    } catch (error) {
      return refused(error);
    }
  }
}

/** svc's cookie gives access to the daemon only: an app in a sandbox has a preview, with its own cookie. */
function credentialsOf(deps: Deps, { fields, host }: RequestHead, port: number): Credentials {
  const header = (name: string) => fieldOf(fields, name.toLowerCase()) ?? null;
  const authorization = header("authorization");
  if (authorization !== null || port !== DAEMON_PORT) return { authorization };
  return { authorization, browser: cookieSecret(deps, { header, host }) };
}

/** Set by the listener only. Host is replaced since the framework misreads paths after a very short one. */
const FROM_LISTENER = /^(?:host|forwarded|x-forwarded-.*|x-real-ip)$/;

function forApi(head: RequestHead, client: Client): string {
  const value = (field: Field) => (FROM_LISTENER.test(field.key) ? null : field.value);
  const add = [
    ["Host", "localhost"],
    ["X-Forwarded-Host", head.host],
    ["X-Forwarded-For", client.address],
  ] as const;
  return rewriteRequestHead(head, { value, add });
}

function explain(status: number, message: string, isForSandbox: boolean): SvcError | Error {
  if (status !== 502) return ofHttp(status, message);
  if (isForSandbox)
    return new SvcError(
      "sandbox_unreachable",
      "The session's sandbox does not answer. See its log with: svc sessions logs <id>",
    );
  return stopping();
}

function stopping(): SvcError {
  return new SvcError("unavailable", "svc is shutting down. Try again.", {}, { "Retry-After": "5" });
}
