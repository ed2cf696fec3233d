import { hostOf, isLoopback, type ProxySetting, proxyOf } from "../src/contract/proxy.ts";
import { isRecord } from "./config.ts";
import { CliError, systemCode } from "./failure.ts";
import { DEFAULT_HOST, SELF_HOST } from "./hosts.ts";
import type { System } from "./system.ts";
import type { Target } from "./target.ts";
import { oneLine } from "./text.ts";

/** A larger error body is not svc's. */
const ERROR_MAX_BYTES = 1024 * 1024;
/** Characters shown of a server's message. */
const SENTENCE_MAX = 2000;

/** The error for an unsuccessful response, with the server's message if it has one. */
export async function answerFailure(
  response: Response,
  target: Target,
  env: System["env"],
): Promise<CliError> {
  const body = await readError(response);
  const requestId = text(body?.["request_id"]) ?? response.headers.get("x-request-id") ?? undefined;
  const sentence = text(body?.["error"])?.slice(0, SENTENCE_MAX);
  const code = text(body?.["code"]) ?? sentence ?? `http_${response.status}`;
  const proxy = proxyOf(target.url, env);
  const conflicts = body?.["conflicts"];
  return new CliError(
    { code: /^[a-z0-9_]{1,64}$/.test(code) ? code : `http_${response.status}` },
    sentence ??
      `${proxy === null ? "" : `The proxy ${proxy.address} (${proxy.variable}) or `}${target.name} responded with status ${response.status} and no error message.`,
    {
      hint: hintFor(response, target, code),
      request_id: requestId === undefined ? undefined : oneLine(requestId).slice(0, 100),
      conflicts: Array.isArray(conflicts) ? conflicts.map(String) : undefined,
      commit: text(body?.["commit"]),
      limit: number(body?.["limit"]),
      active_sessions: number(body?.["active_sessions"]),
    },
  );
}

async function readError(response: Response): Promise<Record<string, unknown> | undefined> {
  try {
    if (Number(response.headers.get("content-length") ?? 0) > ERROR_MAX_BYTES) return undefined;
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      size += part.byteLength;
      if (size > ERROR_MAX_BYTES) return undefined;
      parts.push(part);
    }
    const value: unknown = JSON.parse(Buffer.concat(parts).toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

const number = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) ? Number(value) : undefined;

function hintFor(response: Response, target: Target, code: string): string | undefined {
  const { status, headers } = response;
  if (status === 401) {
    return target.tokenSource === "SVC_CLI_TOKEN" || target.tokenSource === "SVC_EXECUTOR_TOKEN"
      ? `The token in ${target.tokenSource} was refused by ${target.name}. Unset it to use the stored token, or set a valid one. A session's token expires with its sandbox.`
      : signInHint(target);
  }
  if (code === "repo_not_allowed" && isOwnServer(target)) {
    return "To allow it on your server: svc self-host env set SVC_ALLOW_PRIVATE_REPOS=1, then svc self-host stop and svc self-host start";
  }
  const after = headers.get("retry-after");
  if ((status === 429 || status === 503) && after && /^\d{1,6}$/.test(after)) {
    return `Try again in ${after} seconds.`;
  }
  if (status === 404 && !headers.get("content-type")?.includes("json")) {
    return `Check that ${target.url} is the address of an svc API: \`svc hosts info\`.`;
  }
  return undefined;
}

/** Whether `svc self-host` of this machine runs the server. */
export const isOwnServer = ({ name, url }: Pick<Target, "name" | "url">): boolean =>
  name === SELF_HOST && isLoopback(hostOf(url));

export const notSignedIn = (target: Target): CliError =>
  new CliError("not_signed_in", `You are not signed in to ${target.name} (${target.url}).`, {
    hint: signInHint(target),
  });

function signInHint(target: Target): string {
  if (target.source === "--api")
    return `Sign in with \`svc login --api ${target.url}\`, in a browser or with another token.`;
  return target.source === "active"
    ? `Sign in with \`svc login\`${target.name === DEFAULT_HOST ? ", or to another server with `svc login --api <url>`" : ""}.`
    : `Sign in with \`svc login --host ${target.name}\`.`;
}

export const unexpected = (what: string): CliError =>
  new CliError("unexpected_response", `The host sent ${what}.`, {
    hint: "Check that the host's address is that of an svc API, and for a proxy in between: `svc hosts info`.",
  });

/** Converts an error of `fetch` to a CliError with a hint. Other errors are returned unchanged. */
export function networkFailure(error: unknown, target: Target, seconds: number, env: System["env"]): unknown {
  if (error instanceof CliError) return error;
  const name = error instanceof Error ? error.name : "";
  const code = systemCode(error) ?? "";
  const proxy = proxyOf(target.url, env);
  const through = proxy ? `, through the proxy ${proxy.address} (${proxy.variable})` : "";
  if (name === "TimeoutError" || code === "ETIMEDOUT") {
    return new CliError(
      "timeout",
      `${target.name} did not answer within ${seconds} seconds (${target.url}${through}).`,
      {
        hint: "Wait longer with --timeout <seconds>.",
      },
    );
  }
  if (!(error instanceof Error) || (code === "" && name !== "TypeError" && name !== "AbortError"))
    return error;
  const fault = proxy && proxyFault(code);
  if (proxy && fault) {
    return new CliError(
      "network",
      `The proxy ${proxy.address} (${proxy.variable}) ${fault}: ${target.name} (${target.url}).`,
      { hint: proxyAdvice(code, proxy, target) },
    );
  }
  return new CliError("network", `${reason(code)}: ${target.name} (${target.url}${through}).`, {
    hint: advice(code, target),
  });
}

/** What is wrong with a proxy; null if the failure may be the host's. Only the proxy is connected to and looked up. */
function proxyFault(code: string): string | null {
  if (code === "UnsupportedProxyProtocol") return "is of a kind that svc does not support";
  if (/PROXY/i.test(code)) return "refused to connect to the host";
  if (REFUSED.test(code)) return "refused the connection, so the host was not reached";
  if (UNREACHABLE.test(code)) return "cannot be reached, so neither can the host";
  return null;
}

function proxyAdvice(code: string, { variable }: ProxySetting, target: Target): string {
  if (code === "UnsupportedProxyProtocol") {
    return `Set ${variable} to an http:// or https:// proxy. SOCKS proxies are not supported.`;
  }
  return `Correct ${variable}, or add ${hostOf(target.url)} to NO_PROXY to connect without it.`;
}

const REFUSED = /^(?:ConnectionRefused|ECONNREFUSED)$/;
const UNREACHABLE = /NotFound|EAI_|DNS|FailedToOpenSocket|EHOSTUNREACH|ENETUNREACH/i;

function reason(code: string): string {
  if (REFUSED.test(code)) return "The host refused the connection";
  if (UNREACHABLE.test(code)) return "The host cannot be reached";
  if (/CERT|SSL|TLS|SELF_SIGNED|VERIFY/i.test(code)) return `The host's certificate is not trusted (${code})`;
  return `The connection to the host failed${code ? ` (${code})` : ""}`;
}

function advice(code: string, target: Target): string {
  if (/CERT|SSL|TLS|SELF_SIGNED|VERIFY/i.test(code)) {
    return "For a private certificate authority, set NODE_EXTRA_CA_CERTS to its certificate file.";
  }
  if (isOwnServer(target))
    return "Start it with `svc self-host start`. `svc self-host status` shows whether it runs.";
  const local = isLoopback(hostOf(target.url));
  if (local && target.name === DEFAULT_HOST)
    return "Is svc running? Start it with `npm start` in its source tree. For another server: `svc login --api <url>`.";
  if (local) return "Is svc running there? Start it, or choose another host with `svc hosts use`.";
  return "Check your connection, or choose another host with `svc hosts use`.";
}
