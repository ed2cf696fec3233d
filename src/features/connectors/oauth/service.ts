import type { OAuthServerInfo } from "@modelcontextprotocol/sdk/client/auth.js";
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";
import { SvcError } from "../../../contract/errors.ts";
import { field } from "../../../contract/json.ts";
import { VERSION } from "../../../contract/version.ts";
import type { Deps } from "../../../deps.ts";
import { OutboundError } from "../../../lib/outbound.ts";
import { failed, notReached } from "../failure.ts";

/** What is known of an authorization server, and svc's registration there. */
export interface Registration {
  server: OAuthServerInfo;
  client: OAuthClientInformationMixed;
  redirectUrl: string;
  /** What the tokens are for (RFC 8707): the connector. */
  resource: string;
}

/** A request for a person's consent. The verifier is that of PKCE (RFC 7636). */
export interface Consent {
  authorizationUrl: URL;
  codeVerifier: string;
}

interface OfConnector {
  slug: string;
  url: string;
}

type OauthDeps = Pick<Deps, "outbound" | "config">;

/**
 * Finds the authorization server of an MCP server (RFC 9728, RFC 8414), and registers svc there (RFC 7591).
 * @throws connector_failed, url_not_allowed
 */
export async function register(
  deps: OauthDeps,
  connector: OfConnector,
  redirectUrl: string,
): Promise<Registration> {
  const { slug, url } = connector;
  return await explained(connector, async () => {
    const { discoverOAuthServerInfo, registerClient } = await sdk();
    const { checkResourceAllowed, resourceUrlFromServerUrl } = await import(
      "@modelcontextprotocol/sdk/shared/auth-utils.js"
    );
    const server = await discoverOAuthServerInfo(url, { fetchFn: guarded(deps) });
    const { authorizationServerMetadata: metadata, resourceMetadata } = server;
    if (!metadata) throw failed(slug, "its authorization server does not publish its metadata (RFC 8414)");
    if (!metadata.registration_endpoint)
      throw failed(
        slug,
        "its authorization server does not register clients (RFC 7591). Create a token there, store it as a secret, and name the secret in auth",
      );
    const requestedResource = resourceUrlFromServerUrl(url);
    const resource = resourceMetadata?.resource ?? requestedResource.href;
    if (!checkResourceAllowed({ requestedResource, configuredResource: resource }))
      throw failed(slug, "its metadata describes another resource");
    const client = await registerClient(server.authorizationServerUrl, {
      metadata,
      clientMetadata: clientMetadata(redirectUrl),
      fetchFn: guarded(deps),
    });
    return { server, client, redirectUrl, resource };
  });
}

/** The page where a person consents. @throws connector_failed */
export async function askForConsent(
  { config }: OauthDeps,
  connector: OfConnector,
  registration: Registration,
  state: string,
): Promise<Consent> {
  return await explained(connector, async () => {
    const { startAuthorization } = await sdk();
    const { server, client, redirectUrl, resource } = registration;
    const scope = server.resourceMetadata?.scopes_supported?.join(" ");
    const consent = await startAuthorization(server.authorizationServerUrl, {
      ...metadataOf(server),
      clientInformation: client,
      redirectUrl,
      state,
      resource,
      ...(scope && { scope }),
    });
    const { protocol } = consent.authorizationUrl;
    if (protocol === "https:" || (protocol === "http:" && config.allowPrivateAddresses)) return consent;
    throw failed(connector.slug, "its authorization server has no https:// page for consent");
  });
}

/** Exchanges the code of a consent for tokens. @throws connector_failed */
export async function exchange(
  deps: OauthDeps,
  connector: OfConnector,
  { server, client, redirectUrl, resource }: Registration,
  { code, codeVerifier }: { code: string; codeVerifier: string },
): Promise<OAuthTokens> {
  return await explained(connector, async () => {
    const { exchangeAuthorization } = await sdk();
    const tokens = await exchangeAuthorization(server.authorizationServerUrl, {
      ...metadataOf(server),
      clientInformation: client,
      authorizationCode: code,
      codeVerifier,
      redirectUri: redirectUrl,
      resource,
      fetchFn: guarded(deps),
    });
    return sendable(connector, tokens);
  });
}

/** Whether an answer without its issuer may be of another server (RFC 9207). */
export function requiresIssuer({ server }: Registration): boolean {
  return field(server.authorizationServerMetadata, "authorization_response_iss_parameter_supported") === true;
}

/**
 * New tokens for a refresh token, which stays if there is no new one.
 * @returns null: the authorization server refuses it for good
 * @throws connector_failed
 */
export async function refresh(
  deps: OauthDeps,
  connector: OfConnector,
  { server, client, resource }: Registration,
  refreshToken: string,
): Promise<OAuthTokens | null> {
  const { refreshAuthorization } = await sdk();
  const { InvalidGrantError, InvalidClientError, UnauthorizedClientError } = await import(
    "@modelcontextprotocol/sdk/server/auth/errors.js"
  );
  return await explained(connector, async () => {
    try {
      const tokens = await refreshAuthorization(server.authorizationServerUrl, {
        ...metadataOf(server),
        clientInformation: client,
        refreshToken,
        resource,
        fetchFn: guarded(deps),
      });
      return sendable(connector, tokens);
    } catch (error) {
      const isFinal = [InvalidGrantError, InvalidClientError, UnauthorizedClientError].some(
        (kind) => error instanceof kind,
      );
      if (isFinal) return null;
      throw error;
    }
  });
}

/** What a header can carry (RFC 6750, 2.1, and a limit), so that no error of the HTTP client repeats it. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/;

function sendable({ slug }: OfConnector, tokens: OAuthTokens): OAuthTokens {
  if (TOKEN.test(tokens.access_token)) return tokens;
  throw failed(slug, "its authorization server issued a token that cannot be sent in a header");
}

const sdk = () => import("@modelcontextprotocol/sdk/client/auth.js");

function metadataOf({ authorizationServerMetadata: metadata }: OAuthServerInfo) {
  return metadata ? { metadata } : {};
}

function clientMetadata(redirectUrl: string): OAuthClientMetadata {
  return {
    client_name: "svc",
    software_version: VERSION,
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

/** The guarded client, as the SDK calls `fetch`. */
function guarded({ outbound }: OauthDeps) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { body } = init;
    return await outbound(url, {
      method: init.method,
      headers: new Headers(init.headers),
      body: body instanceof URLSearchParams ? body.toString() : typeof body === "string" ? body : null,
      signal: init.signal ?? null,
    });
  };
}

/** Errors of the SDK contain texts of the other server. */
async function explained<T>({ slug }: OfConnector, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SvcError) throw error;
    if (error instanceof OutboundError) throw notReached(slug, error);
    throw failed(slug, "its authorization server does not answer as OAuth 2.1 requires");
  }
}
