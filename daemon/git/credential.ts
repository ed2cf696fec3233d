import { field, parseJson } from "../../src/contract/json.ts";
import { TOKEN_USER } from "../../src/contract/token.ts";
import type { Settings } from "../settings.ts";
import { CloneError } from "./clone-error.ts";

/** A credential of this session for the git gateway, valid for 15 minutes. */
export interface Credential {
  username: string;
  token: string;
  /** In seconds since 1970; null if the API did not send it. */
  expiresAt: number | null;
}

/** A credential could not be fetched. The message is a sentence for a person. */
export class CredentialError extends CloneError {
  override readonly name = "CredentialError";
}

const FETCH_MS = 15_000;
const RESPONSE_MAX_BYTES = 64 * 1024;
const REFUSALS: Readonly<Record<number, string>> = {
  401: "svc does not know this sandbox: its key was replaced, or the session was deleted.",
  403: "svc refused a git credential: the session has ended, or belongs to another project.",
  404: "svc refused a git credential: the project was not found.",
};

/**
 * Fetches `GET /v1/projects/:id/git/clone-credential`.
 * @param key the sandbox service key, or the session's project token
 * @param scope `saved`: grants access to the ref of saved work only, and requires the service key
 * @throws CredentialError
 */
export async function fetchCredential(
  { apiUrl, projectId }: Pick<Settings, "apiUrl" | "projectId">,
  key: string,
  signal?: AbortSignal,
  scope?: "saved",
): Promise<Credential> {
  const limit = AbortSignal.timeout(FETCH_MS);
  const query = scope === undefined ? "" : `?scope=${scope}`;
  const answer = await fetch(`${apiUrl}/projects/${projectId}/git/clone-credential${query}`, {
    headers: { Authorization: `Bearer ${key}`, Accept: "application/json" },
    redirect: "manual",
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  }).catch(() => {
    throw new CredentialError("A git credential could not be fetched: svc's API cannot be reached.", false);
  });
  if (!answer.ok) {
    await answer.body?.cancel();
    const refusal = REFUSALS[answer.status];
    throw new CredentialError(
      refusal ?? `A git credential could not be fetched: svc's API returned status ${answer.status}.`,
      refusal !== undefined,
    );
  }
  const credential = readCredential(await answer.text().catch(() => ""));
  if (!credential)
    throw new CredentialError(
      "A git credential could not be fetched: svc's API returned an invalid response.",
      false,
    );
  return credential;
}

function readCredential(text: string): Credential | null {
  if (text.length > RESPONSE_MAX_BYTES) return null;
  const value = parseJson(text);
  const auth = field(value, "auth");
  const [username, token] = [field(auth, "username") ?? TOKEN_USER, field(auth, "token")];
  // both are written to git's line-based credential protocol
  if (typeof username !== "string" || typeof token !== "string" || !/^[\x21-\x7e]+$/.test(username + token))
    return null;
  const expires = field(value, "expires_at");
  const time = typeof expires === "string" ? Date.parse(expires) : Number.NaN;
  return { username, token, expiresAt: Number.isNaN(time) ? null : Math.floor(time / 1000) };
}
