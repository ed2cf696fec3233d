import { field, parseJson } from "../../src/contract/json.ts";
import { TOKEN_USER } from "../../src/contract/token.ts";
import type { Settings } from "../settings.ts";
import { CloneError } from "./clone-error.ts";

/** What opens the git gateway for this session, for a quarter of an hour. */
export interface Credential {
  username: string;
  token: string;
  /** Seconds since 1970; null when the API did not say. */
  expiresAt: number | null;
}

/** The API gave no credential. The message is a sentence for a person. */
export class CredentialError extends CloneError {
  override readonly name = "CredentialError";
}

const ASK_MS = 15_000;
const ANSWER_MAX_BYTES = 64 * 1024;
const REFUSALS: Readonly<Record<number, string>> = {
  401: "svc does not know this sandbox: its key was replaced, or the session was deleted.",
  403: "svc refused a git credential: the session has ended, or belongs to another project.",
  404: "svc refused a git credential: there is no such project.",
};

/**
 * Asks `GET /v1/projects/:id/git/clone-credential`.
 * @param key the sandbox service key, or the session's project token
 * @param scope `saved`: one that opens the ref of saved work, and no branch; only the service key gets it
 * @throws CredentialError
 */
export async function fetchCredential(
  { apiUrl, projectId }: Pick<Settings, "apiUrl" | "projectId">,
  key: string,
  signal?: AbortSignal,
  scope?: "saved",
): Promise<Credential> {
  const limit = AbortSignal.timeout(ASK_MS);
  const query = scope === undefined ? "" : `?scope=${scope}`;
  const answer = await fetch(`${apiUrl}/projects/${projectId}/git/clone-credential${query}`, {
    headers: { Authorization: `Bearer ${key}`, Accept: "application/json" },
    redirect: "manual",
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  }).catch(() => {
    throw new CredentialError("svc's API cannot be reached for a git credential.", false);
  });
  if (!answer.ok) {
    await answer.body?.cancel();
    const refusal = REFUSALS[answer.status];
    throw new CredentialError(
      refusal ?? `svc's API answered ${answer.status} when asked for a git credential.`,
      refusal !== undefined,
    );
  }
  const credential = readCredential(await answer.text().catch(() => ""));
  if (!credential)
    throw new CredentialError(
      "svc's API answered with something else when asked for a git credential.",
      false,
    );
  return credential;
}

function readCredential(text: string): Credential | null {
  if (text.length > ANSWER_MAX_BYTES) return null;
  const value = parseJson(text);
  const auth = field(value, "auth");
  const [username, token] = [field(auth, "username") ?? TOKEN_USER, field(auth, "token")];
  // it is written into git's protocol, line by line
  if (typeof username !== "string" || typeof token !== "string" || !/^[\x21-\x7e]+$/.test(username + token))
    return null;
  const expires = field(value, "expires_at");
  const time = typeof expires === "string" ? Date.parse(expires) : Number.NaN;
  return { username, token, expiresAt: Number.isNaN(time) ? null : Math.floor(time / 1000) };
}
