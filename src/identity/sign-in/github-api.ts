import type { GithubApp } from "../../config.ts";
import { SvcError } from "../../contract/errors.ts";
import { parseJson } from "../../contract/json.ts";
import { proxyOf } from "../../contract/proxy.ts";

/** A GitHub user, with verified e-mail addresses: the primary one first, in lower case. */
export interface GithubUser {
  /** `<host>:<id>`: unlike names, ids do not change; they are unique per host. */
  id: string;
  name: string;
  emails: string[];
}

/** GitHub usually responds in tenths of a second. */
const TIMEOUT_MS = 10_000;
/** Far more than its responses. */
const ANSWER_MAX_BYTES = 256 * 1024;
const EMAILS_MAX = 50;

/**
 * Exchanges a code for the GitHub user (docs.github.com: Authorizing OAuth apps). The access token is not stored.
 * @throws validation_failed for an invalid code, unavailable when a request to GitHub fails
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
  if (!Number.isSafeInteger(id) || typeof login !== "string") throw noAnswer(app.apiUrl);
  return {
    id: `${new URL(app.url).host}:${id}`,
    name: typeof name === "string" && name.trim() !== "" ? name : login,
    emails: verified(emails, app.apiUrl),
  };
}

function verified(answer: unknown, url: string): string[] {
  if (!Array.isArray(answer)) throw noAnswer(url);
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
  if (!response?.ok || !response.body) throw noAnswer(url);
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of response.body) {
      size += part.byteLength;
      if (size > ANSWER_MAX_BYTES) throw noAnswer(url);
      parts.push(part);
    }
  } catch {
    throw noAnswer(url);
  }
  return parseJson(Buffer.concat(parts).toString());
}

function field(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}

function noAnswer(url: string): SvcError {
  const proxy = proxyOf(url, process.env);
  const through = proxy ? ` through the proxy that the server's ${proxy.variable} names` : "";
  const sentence = `The request to GitHub failed${through}. Try again in a moment, or sign in with a password.`;
  return new SvcError("unavailable", sentence, {}, { "Retry-After": "5" });
}
