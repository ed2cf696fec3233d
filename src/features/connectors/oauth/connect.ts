import { randomBytes } from "node:crypto";
import { and, eq, lt } from "drizzle-orm";
import { connectorConsents } from "../../../../db/schema/index.ts";
import type { CompleteConsentBody, ConnectorConsent } from "../../../contract/connector.ts";
import { CONSENT_PAGE } from "../../../contract/connector-consent.ts";
import { SvcError } from "../../../contract/errors.ts";
import { OAUTH } from "../../../contract/manifest/kinds.ts";
import type { Deps } from "../../../deps.ts";
import { audit } from "../../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { publicUrl } from "../../../identity/auth/public-url.ts";
import { findConnector, lookUpConnector, SLUG } from "../row.ts";
import { removeGrant, storeGrant } from "./grant.ts";
import { askForConsent, exchange, type Registration, register, requiresIssuer } from "./service.ts";

/** How long a person may take to consent. */
const CONSENT_MS = 10 * 60_000;
/** Of one project, at a time. */
const CONSENTS_MAX = 20;

interface Pending {
  registration: Registration;
  codeVerifier: string;
}

/**
 * Asks the authorization server of a connector for a page where a person consents. The state, which names the project,
 * comes back with the code.
 * @throws not_found, validation_failed, connector_failed, url_not_allowed, rate_limited
 */
export async function connectConnector(
  deps: Deps,
  { userId }: Caller,
  project: ProjectRow,
  slug: string,
): Promise<ConnectorConsent> {
  const row = await findConnector(deps.db, project, slug);
  const { projectId, url } = row;
  if (row.auth !== OAUTH || url === null)
    throw new SvcError(
      "validation_failed",
      `The connector "${slug}" has no auth = "${OAUTH}" in svc.toml, so there is nothing to connect.`,
    );
  const now = await deps.databaseTime(deps.db);
  await deps.db.delete(connectorConsents).where(lt(connectorConsents.expiresAt, now));
  if ((await deps.db.$count(connectorConsents, eq(connectorConsents.projectId, projectId))) >= CONSENTS_MAX)
    throw new SvcError(
      "rate_limited",
      `${CONSENTS_MAX} authorizations of connectors are in progress in this project. Complete one, or wait ${CONSENT_MS / 60_000} minutes.`,
      {},
      { "Retry-After": String(CONSENT_MS / 1000) },
    );
  const connector = { slug, url };
  const registration = await register(deps, connector, `${publicUrl(deps)}${CONSENT_PAGE}`);
  const state = `${projectId}.${randomBytes(32).toString("base64url")}`;
  const { authorizationUrl, codeVerifier } = await askForConsent(deps, connector, registration, state);
  const hash = deps.keys.hashToken(state);
  const expiresAt = new Date(now.getTime() + CONSENT_MS);
  const pending: Pending = { registration, codeVerifier };
  await deps.db.insert(connectorConsents).values({
    state: hash,
    ...{ projectId, slug, url, userId, expiresAt },
    pending: deps.keys.seal(projectId, purposeOf(hash), JSON.stringify(pending)),
  });
  return { authorization_url: authorizationUrl.href, expires_at: expiresAt.toISOString() };
}

/**
 * Completes a consent with the code that the authorization server gave the browser. Only the person who asked for it can,
 * and only once: otherwise an attacker could connect a project to an account of their own.
 * @throws not_found, connector_failed
 */
export async function completeConsent(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { state, code, iss }: CompleteConsentBody,
): Promise<{ slug: string }> {
  const { userId } = caller;
  const { projectId } = project;
  const hash = deps.keys.hashToken(state);
  const now = await deps.databaseTime(deps.db);
  const [asked] = await deps.db
    .delete(connectorConsents)
    .where(
      and(
        eq(connectorConsents.state, hash),
        eq(connectorConsents.projectId, projectId),
        eq(connectorConsents.userId, userId),
      ),
    )
    .returning();
  if (!asked || asked.expiresAt <= now) throw unknownConsent();
  const { slug, url } = asked;
  const pending: Pending = JSON.parse(deps.keys.open(projectId, purposeOf(hash), asked.pending));
  const { registration, codeVerifier } = pending;
  const issuer = registration.server.authorizationServerMetadata?.issuer;
  if (iss === undefined ? requiresIssuer(registration) : iss !== issuer)
    throw new SvcError(
      "connector_failed",
      `The connector "${slug}" failed: the response is from another authorization server.`,
    );
  const tokens = await exchange(deps, { slug, url }, registration, { code, codeVerifier });
  await deps.db.transaction(async (tx) => {
    const row = await lookUpConnector(tx, { projectId }, slug);
    if (row?.auth !== OAUTH || row.url !== url) throw unknownConsent();
    await storeGrant(deps, tx, row, { registration, tokens, userId, now });
    await audit(tx, caller, { action: "connector.connected", target: slug, project, details: { url } });
  });
  return { slug };
}

/** Deletes the tokens of a connector. @throws not_found */
export async function disconnectConnector(
  deps: Pick<Deps, "db">,
  caller: Caller,
  project: ProjectRow,
  slug: string,
): Promise<{ ok: true }> {
  if (!SLUG.test(slug)) throw notConnected();
  return await deps.db.transaction(async (tx) => {
    if (!(await removeGrant(tx, { projectId: project.projectId, slug }))) throw notConnected();
    await audit(tx, caller, { action: "connector.disconnected", target: slug, project });
    return { ok: true };
  });
}

function notConnected(): SvcError {
  return new SvcError("not_found", "This connector is not connected. List them with: svc connectors ls");
}

const purposeOf = (hash: string) => `connector consent ${hash}`;

function unknownConsent(): SvcError {
  return new SvcError(
    "not_found",
    "The authorization is unknown, was started by another person, or has expired. Start again with: svc connectors connect",
  );
}
