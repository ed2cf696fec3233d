import type { App, AppState } from "../../contract/app.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { redeemAppLink } from "../../features/apps/link.ts";
import { readApp } from "../../features/apps/read.ts";
import { deployCommand, logCommand } from "../../features/apps/rows.ts";
import { previewSite } from "../../features/apps/site.ts";
import { SITE_METHODS } from "../../features/apps/static/serve.ts";
import { isKnownMethod, methodNotAllowed } from "../../http/methods.ts";
import { isWithinReach } from "../../jobs/places.ts";
import type { Answer } from "../../splice/answer.ts";
import type { Decision, Forward } from "../../splice/connection.ts";
import type { Field } from "../../splice/fields.ts";
import type { RequestHead } from "../../splice/head.ts";
import { rewriteRequestHead } from "../../splice/rewrite.ts";
import type { Address } from "../../splice/upstream.ts";
import { type AppVisit, createAppAdmission, findAppAt, isOpenAt, placeOfApp } from "./app-admission.ts";
import type { Client } from "./client.ts";
import { refuseCrossSite } from "./cross-site.ts";
import { toDaemon } from "./forward.ts";
import { writePreviewCookie } from "./preview-cookie.ts";
import { ofHttp, type Page, refuse } from "./refuse.ts";
import { signInByLink } from "./sign-in-link.ts";
import { createSigner } from "./signer.ts";
import { createStrangers } from "./strangers.ts";

export type Apps = (head: RequestHead, client: Client, place: AppPlace) => Decision | Promise<Decision>;

/** Where an app is requested. */
interface AppPlace {
  /** Of its own host name. */
  label: string;
  /** Null at its own host name. At a domain of an account, every visitor is a stranger. */
  domain: string | null;
}

/** Tells the API to serve a file of a site. The header is removed from clients' requests. */
export const SITE_HEADER = "X-Forwarded-Site";

/** Starting an app takes a few seconds. */
const RETRY_S = 3;

/**
 * Handles requests to the host name of an app (contract: Manifest): a browser signs in by a link, and then by its cookie.
 * Strangers reach public apps, without an identity (`strangers.ts`).
 * Each request goes to the deployment that is live at that moment, also on a connection that is reused.
 * @param api where the API listens, which serves the files of sites
 * @returns decides on a request; throws SvcError, or rejects with it, when access is denied
 */
export function createApps(deps: Deps, api: Address): Apps {
  const admission = createAppAdmission(deps);
  const sign = createSigner(deps);
  const strangers = createStrangers(deps, (name) => isOpenAt(deps, name));

  return (head, client, { label, domain }) =>
    signInByLink<AppVisit>(deps, head, {
      async signIn(token) {
        const app = domain === null ? await findAppAt(deps, label) : null;
        const visitor = app && (await redeemAppLink(deps, token, app.appId));
        return visitor && writePreviewCookie(deps, placeOfApp(app), visitor);
      },
      admit: (cookies) => admission(domain === null ? cookies : [], label),
      pass(visit, path) {
        // strangers have no cookie of svc that another site could use
        if (visit.visitor) refuseCrossSite(head);
        const decision = pass(head, client, path, visit);
        if (visit.visitor || !("to" in decision)) return decision;
        const { address } = client;
        const isWebSocket = head.upgrade !== null;
        const lease = strangers.enter({
          appId: visit.app.appId,
          place: domain ?? label,
          address,
          isWebSocket,
        });
        return { ...decision, lease };
      },
    });

  function pass(
    head: RequestHead,
    client: Client,
    path: string,
    visit: AppVisit,
  ): Forward | Promise<Decision> {
    const { live, reached } = visit;
    if (live?.entry.static && !isKnownMethod(head.method)) throw methodNotAllowed(SITE_METHODS);
    if (live?.entry.static) return { to: api, head: forSite(head, path, live.deploymentId) };
    if (!live?.entry.run || !reached?.daemon || reached.run.status !== "running")
      return notServed(deps, head, visit);
    const { daemon, run } = reached;
    const isHere = isWithinReach(deps, run);
    if (!isHere && !visit.visitor) return notServed(deps, head, visit);
    if (!isHere) {
      const sentence = `The app ${live.entry.slug} runs on another server's machine. Redeploy it from this server to run it here: ${deployCommand(visit.app)}`;
      throw new SvcError("sandbox_unreachable", sentence);
    }
    const { scheme } = previewSite(deps);
    const seen = { host: head.host, origin: null, authorization: true, scheme };
    const target = `/proxy/${live.entry.run.port}${path}`;
    const context = sign(visit.visitor ?? STRANGER, daemon, { method: head.method, target });
    return toDaemon(daemon, context, { head, client, target, seen });
  }
}

const STRANGER = { userId: "", role: "visitor" } as const;

/** The request headers that a static site needs. */
const FOR_SITES = /^(?:accept|accept-encoding|range|if-range|if-none-match|if-modified-since|user-agent)$/;

function forSite(head: RequestHead, path: string, deploymentId: string): string {
  const value = (field: Field) => (FOR_SITES.test(field.key) ? field.value : null);
  const add = [
    ["Host", "localhost"],
    [SITE_HEADER, deploymentId],
  ] as const;
  return rewriteRequestHead(head, { target: path, value, add });
}

/** The response for an app without a running deployment. Only members see why, which is read from the database. */
async function notServed(deps: Deps, head: RequestHead, { app, visitor }: AppVisit): Promise<Decision> {
  const view = visitor && (await readApp(deps, app.appId));
  const page = view ? pageOf(view) : pageForStrangers(app);
  const again = page.refreshS === undefined ? {} : { "Retry-After": String(page.refreshS) };
  const error = new SvcError("not_running", `${page.title}.`, view ? { status: view.state } : {}, again);
  return { answer: refuse(deps, error, head, page) };
}

function pageForStrangers({ isStopped }: AppVisit["app"]): Page {
  const sentence = isStopped ? "It has been stopped." : "This page reloads automatically.";
  return {
    title: "This app is not available now",
    sentences: [sentence],
    ...(!isStopped && { refreshS: RETRY_S }),
  };
}

const TITLES: Readonly<Record<AppState, string>> = {
  waiting: "The app is waiting for its first deployment",
  deploying: "The app is being deployed",
  live: "The app is starting",
  down: "The app is restarting",
  failed: "The app's deployment failed",
  stopped: "The app is stopped",
  disabled: "The app is disabled",
};

function pageOf({ slug, change_request: crNumber, state, error, next }: App): Page {
  const sentences = [
    crNumber === null ? `App ${slug}.` : `Preview of the app ${slug} in change request #${crNumber}.`,
    ...(next ? [next.state === "starting" ? "It is starting." : "It is being built."] : []),
    ...(error ? [error] : []),
  ];
  const isComing = state !== "stopped" && state !== "disabled";
  if (isComing) sentences.push("This page reloads automatically.");
  if (state === "failed") sentences.push(`See its log: ${logCommand({ slug, crNumber })}`);
  return { title: TITLES[state], sentences, ...(isComing && { refreshS: RETRY_S }) };
}

/** The response to a protocol error, or for an app that does not answer. */
export function refuseForApp(deps: Deps, status: number, message: string, head: RequestHead): Answer {
  if (status !== 502) return refuse(deps, ofHttp(status, message), head);
  return refuse(
    deps,
    new SvcError(
      "sandbox_unreachable",
      "The app does not answer. See its log with: svc apps logs <slug>; that of a preview: svc cr apps <number> --logs",
    ),
    head,
  );
}
