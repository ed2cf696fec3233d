import type { GithubApp } from "../../config.ts";
import { SvcError } from "../../contract/errors.ts";
import { parseJson } from "../../contract/json.ts";

/** Somebody at GitHub, and the addresses that GitHub says are theirs: the primary one first, in lower case. */
export interface GithubUser {
  /** `<host>:<id>`: names change, ids do not, and another server's mean somebody else. */
  id: string;
  name: string;
  emails: string[];
}

/** A person waits; GitHub answers in tenths of a second. */
const TIMEOUT_MS = 10_000;
/** Far more than it ever answers to these. */
const ANSWER_MAX_BYTES = 256 * 1024;
const EMAILS_MAX = 50;

/**
 * Finds out who came back from GitHub with a code (docs.github.com: Authorizing OAuth apps). The access token is used here,
 * and kept nowhere.
 * @throws validation_failed for a code that is no good any more, unavailable when GitHub does not answer as it should
 */
export async function fetchGithubUser(
  app: GithubApp,
  { code, verifier, redirectUri }: { code: string; verifier: string; redirectUri: string },
): Promise<GithubUser> {
  const form = {
    client_id: app.clientId,
    client_secret: app.clientSecret,
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  };
  const granted = await ask(`${app.url}/login/oauth/access_token`, {
    method: "POST",
    body: new URLSearchParams(form),
  });
  const token = field(granted, "access_token");
  if (typeof token !== "string" || !/^[\x21-\x7e]{1,512}$/.test(token)) {
    throw new SvcError("validation_failed", "The GitHub sign-in has expired. Start again.");
  }
  const headers = { Authorization: `Bearer ${token}`, "X-GitHub-Api-Version": "2022-11-28" };
  const [user, emails] = await Promise.all([
    ask(`${app.apiUrl}/user`, { headers }),
    ask(`${app.apiUrl}/user/emails`, { headers }),
  ]);
  const [id, name, login] = [field(user, "id"), field(user, "name"), field(user, "login")];
  if (!Number.isSafeInteger(id) || typeof login !== "string") throw noAnswer();
  return {
    id: `${new URL(app.url).host}:${id}`,
    name: typeof name === "string" && name.trim() !== "" ? name : login,
    emails: verified(emails),
  };
}

function verified(answer: unknown): string[] {
  if (!Array.isArray(answer)) throw noAnswer();
  const theirs = answer.slice(0, EMAILS_MAX).filter((each) => field(each, "verified") === true);
  const primaryFirst = theirs.sort(
    (one, other) => Number(field(other, "primary") === true) - Number(field(one, "primary") === true),
  );
  return primaryFirst.flatMap((each) => {
    const email = field(each, "email");
    return typeof email === "string" ? [email.toLowerCase()] : [];
  });
}

async function ask(url: string, init: RequestInit): Promise<unknown> {
  const headers = { Accept: "application/json", "User-Agent": "svc", ...Object(init.headers) };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { ...init, headers, signal, redirect: "error" }).catch(() => null);
  if (!response?.ok || !response.body) throw noAnswer();
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of response.body) {
      size += part.byteLength;
      if (size > ANSWER_MAX_BYTES) throw noAnswer();
      parts.push(part);
    }
  } catch {
    throw noAnswer();
  }
  return parseJson(Buffer.concat(parts).toString());
}

function field(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}

function noAnswer(): SvcError {
  const sentence = "The request to GitHub failed. Try again in a moment, or sign in with a password.";
  return new SvcError("unavailable", sentence, {}, { "Retry-After": "5" });
}
