import { describe, expect, test } from "bun:test";
import { SvcError } from "../../src/contract/errors.ts";
import {
  type CookieRequest,
  clearCookie,
  cookieRequestOf,
  cookieSecret,
  requireDashboard,
  writeCookie,
} from "../../src/identity/auth/cookie.ts";

const PLAIN = { config: { publicUrl: "http://svc.example.com:8000" } };
const TLS = { config: { publicUrl: "https://svc.example.com" } };
const OURS = { "x-svc-dashboard": "1" };

/** A browser's request to `svc.internal:3000`, svc's name behind a reverse proxy. */
function cookieRequest(headers: Record<string, string>, host = "svc.internal:3000"): CookieRequest {
  const sent = new Headers(headers);
  return { header: (name) => sent.get(name), host };
}

/** The code of the refusal. */
function outcome<T>(ask: () => T): T | string {
  try {
    return ask();
  } catch (error) {
    if (error instanceof SvcError) return error.code;
    throw error;
  }
}

describe("the secret is read from svc's cookie", () => {
  test.each([
    ["svc=svc_bs_x", "svc_bs_x", null],
    ["__Host-svc=svc_bs_x", null, "svc_bs_x"],
    ["a=1; svc=svc_bs_x;b=2", "svc_bs_x", null],
    ["a=1;__Host-svc=svc_bs_x ; b=2", null, "svc_bs_x"],
    ["svc=svc_bs_x; svc=svc_bs_y", "svc_bs_x", null],
    ["svc=svc_pat_x", null, null],
    ["xsvc=svc_bs_x", null, null],
    ["a=svc=svc_bs_", null, null],
    ["a=__Host-svc=svc_bs_", null, null],
    ["svc=", null, null],
    ["svc", null, null],
    ["", null, null],
  ])("%j: %p, and over TLS %p", (cookie, plain, tls) => {
    expect(cookieSecret(PLAIN, cookieRequest({ ...OURS, cookie }))).toBe(plain);
    expect(cookieSecret(TLS, cookieRequest({ ...OURS, cookie }))).toBe(tls);
  });

  test("a written cookie can be read, and a cleared cookie expires at once", () => {
    const rest = "Path=/; HttpOnly; SameSite=Lax; Max-Age";
    expect(writeCookie(PLAIN.config, "svc_bs_x")).toBe(`svc=svc_bs_x; ${rest}=2592000`);
    expect(writeCookie(TLS.config, "svc_bs_x")).toBe(`__Host-svc=svc_bs_x; ${rest}=2592000; Secure`);
    expect(clearCookie(PLAIN.config)).toBe(`svc=; ${rest}=0`);
    expect(clearCookie(TLS.config)).toBe(`__Host-svc=; ${rest}=0; Secure`);
  });
});

describe("accepts a cookie only from svc's own pages", () => {
  const cookie = "svc=svc_bs_x";
  test.each<
    [
      what: string,
      headers: Record<string, string>,
      host: string,
      secret: string | null,
      wanted: string | null,
    ]
  >([
    ["no origin", OURS, "svc.internal:3000", "svc_bs_x", null],
    [
      "the request's host",
      { ...OURS, origin: "http://svc.internal:3000" },
      "svc.internal:3000",
      "svc_bs_x",
      null,
    ],
    [
      "that host in capitals",
      { ...OURS, origin: "http://svc.internal:3000" },
      "SVC.Internal:3000",
      "svc_bs_x",
      null,
    ],
    [
      "the public address",
      { ...OURS, origin: "http://svc.example.com:8000" },
      "svc.internal:3000",
      "svc_bs_x",
      null,
    ],
    [
      "the public address at another port",
      { ...OURS, origin: "http://svc.example.com" },
      "svc.internal:3000",
      "forbidden",
      "forbidden",
    ],
    [
      "another host",
      { ...OURS, origin: "http://evil.example" },
      "svc.internal:3000",
      "forbidden",
      "forbidden",
    ],
    [
      "a part of the host",
      { ...OURS, origin: "http://internal:3000" },
      "svc.internal:3000",
      "forbidden",
      "forbidden",
    ],
    ["an opaque origin", { ...OURS, origin: "null" }, "svc.internal:3000", "forbidden", "forbidden"],
    ["an opaque origin, without a host", { ...OURS, origin: "null" }, "", "forbidden", "forbidden"],
    ["without our header", {}, "svc.internal:3000", null, "forbidden"],
    ["another value of the header", { "x-svc-dashboard": "0" }, "svc.internal:3000", null, "forbidden"],
  ])("%s", (_, headers, host, secret, wanted) => {
    expect(outcome(() => cookieSecret(PLAIN, cookieRequest({ ...headers, cookie }, host)))).toBe(secret);
    expect(outcome(() => requireDashboard(PLAIN, cookieRequest(headers, host)) ?? null)).toBe(wanted);
  });

  test("without a cookie there is no secret, from any origin", () => {
    expect(cookieSecret(PLAIN, cookieRequest({ ...OURS, origin: "http://evil.example" }))).toBeNull();
  });
});

test.each([
  [{ "X-Forwarded-Host": "svc.example.com:8000", Host: "other" }, "svc.example.com:8000"],
  [{ Host: "other" }, ""],
])("the host is taken only from the listener's header: %j", (headers, host) => {
  expect(
    cookieRequestOf(new Request("http://localhost/", { headers: new Headers(Object.entries(headers)) })).host,
  ).toBe(host);
});
