import { VERSION } from "../../src/contract/version.ts";
import { unexpected } from "../api-failure.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import type { Context } from "../context.ts";
import { CliError } from "../failure.ts";
import type { Target } from "../target.ts";
import { oneLine } from "../text.ts";

/** Answer of `POST /v1/auth/device` (RFC 8628, 3.2). */
interface DeviceCode {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete?: string;
  expires_in: number;
  interval?: number;
}

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
/** The default poll interval in seconds, and what `slow_down` adds to it (RFC 8628, 3.5). */
const INTERVAL = 5;
const SLOW_DOWN = 5;
/** Upper bounds of the server's values. */
const INTERVAL_MAX = 60;
const EXPIRES_MAX = 30 * 60;

/** Replaced in tests. */
export interface Clock {
  sleep(ms: number): Promise<void>;
  now(): number;
}

const REAL: Clock = { sleep: (ms) => Bun.sleep(ms), now: Date.now };

/**
 * Signs in through a browser, on this or another machine. It stores nothing.
 * @returns the token. @throws CliError `login_failed` if it is denied, expires or is not offered.
 */
export async function deviceLogin(
  context: Context,
  target: Target,
  label: string,
  clock: Clock = REAL,
): Promise<string> {
  const code = await begin(context, target, label);
  await show(context, target, code);
  return poll(context, target, code, clock);
}

async function begin(context: Context, target: Target, label: string): Promise<DeviceCode> {
  const client = { label, client_id: `svc/${VERSION}` };
  const call = { path: "/auth/device", body: client, anonymous: true };
  const code = await context
    .apiFor(target)
    .call<DeviceCode>(call)
    .catch((error: unknown) => {
      if (error instanceof CliError && ["not_found", "http_404", "method_not_allowed"].includes(error.code)) {
        throw tokenOnly(target);
      }
      throw error;
    });
  const { device_code, user_code, verification_uri, expires_in } = code;
  if (![device_code, user_code, verification_uri].every((each) => typeof each === "string" && each !== "")) {
    throw unexpected("an incomplete answer to the sign-in");
  }
  if (typeof expires_in !== "number" || !isWebAddress(verification_uri)) {
    throw unexpected("an incomplete answer to the sign-in");
  }
  return code;
}

const tokenOnly = (target: Target): CliError =>
  new CliError("login_failed", `${target.name} supports only sign-in with a token.`, {
    hint: `On the server, \`svc-api admin token --email <your e-mail>\` prints a token. Then: svc login --host ${target.name} --token -`,
  });

/** The code is shown even if the browser opens: comparing it protects against phishing. */
async function show(context: Context, target: Target, code: DeviceCode): Promise<void> {
  const { system } = context;
  const complete = code.verification_uri_complete ?? code.verification_uri;
  await system.stderr.write(
    [
      `Signing in to ${target.name} (${target.url})`,
      `Open   ${oneLine(complete)}`,
      `Code   ${oneLine(code.user_code)}   (the page must show the same code)`,
      "Waiting for confirmation in the browser. Ctrl-C cancels.\n",
    ].join("\n"),
  );
  if (hasBrowser(context) && isWebAddress(complete)) await openBrowser(system, new URL(complete).href);
}

async function poll(context: Context, target: Target, code: DeviceCode, clock: Clock): Promise<string> {
  const api = context.apiFor(target);
  let interval = bounded(code.interval ?? INTERVAL, INTERVAL_MAX);
  const deadline = clock.now() + bounded(code.expires_in, EXPIRES_MAX) * 1000;
  const body = { device_code: code.device_code, grant_type: GRANT };
  while (clock.now() < deadline) {
    await clock.sleep(interval * 1000);
    try {
      const answer = await api.call<{ access_token?: unknown; token?: unknown }>({
        path: "/auth/device/token",
        body,
        anonymous: true,
      });
      const token = answer.access_token ?? answer.token;
      if (typeof token === "string" && token !== "") return token;
      throw unexpected("a sign-in without a token");
    } catch (error) {
      interval = nextInterval(error, interval);
    }
  }
  throw expired();
}

/** The next interval after a poll without a token. @throws CliError if the sign-in has failed. */
function nextInterval(error: unknown, interval: number): number {
  if (!(error instanceof CliError)) throw error;
  switch (error.code) {
    case "authorization_pending":
      return interval;
    case "slow_down":
      return Math.min(interval + SLOW_DOWN, INTERVAL_MAX);
    case "network":
    case "timeout":
    case "unavailable":
    case "rate_limited":
    case "http_429":
    case "http_502":
    case "http_503":
    case "http_504":
      return Math.min(Math.max(interval, 1) * 2, INTERVAL_MAX);
    case "access_denied":
      throw new CliError("login_failed", "The sign-in was denied in the browser; nothing was stored.");
    case "expired_token":
      throw expired();
    default:
      throw error;
  }
}

const expired = (): CliError =>
  new CliError("login_failed", "The code expired before it was confirmed; nothing was stored.", {
    hint: "Run `svc login` again.",
  });

const bounded = (seconds: number, max: number): number =>
  Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0.05), max) : max;

const isWebAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
