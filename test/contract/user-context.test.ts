import { expect, test } from "bun:test";
import {
  signedPath,
  signUserContext,
  type UserContext,
  verifyUserContext,
} from "../../src/contract/user-context.ts";

const KEY = "svc_sb_key";
const NOW = 1_800_000_000;
const context: UserContext = {
  user_id: "u",
  session_id: "s",
  role: "user",
  scopes: ["read"],
  iat: NOW,
  exp: NOW + 60,
  method: "GET",
  path: "/session",
};
const signed = signUserContext(KEY, context);
const [body = "", signature = ""] = signed.split(".");
const also = (change: object) => signUserContext(KEY, { ...context, ...change });

test("a signed context is valid for one minute and five seconds of skew", () => {
  for (const now of [NOW - 5, NOW, NOW + 64])
    expect(verifyUserContext(KEY, signed, "s", now)).toEqual(context);
  for (const now of [NOW - 6, NOW + 65]) expect(verifyUserContext(KEY, signed, "s", now)).toBeNull();
});

test.each<[string, string]>([
  ["nothing", ""],
  ["no signature", body],
  ["an empty signature", `${body}.`],
  ["a third part", `${signed}.x`],
  ["another key", signUserContext("svc_sb_other", context)],
  [
    "a changed body",
    `${Buffer.from(JSON.stringify({ ...context, role: "platform" })).toString("base64url")}.${signature}`,
  ],
  ["a cut signature", signed.slice(0, -1)],
  ["padding", `${signed}=`],
  [
    "another spelling of the same bytes",
    `${signed.slice(0, -1)}${signed.endsWith("A") ? "B" : String.fromCharCode(signed.charCodeAt(signed.length - 1) + 1)}`,
  ],
  ["another session", also({ session_id: "t" })],
  ["an unknown role", also({ role: "root" })],
  ["scopes that are not a list", also({ scopes: "all" })],
  ["a lifetime of an hour", also({ exp: NOW + 3600 })],
  ["no times", also({ iat: "now" })],
  ["no method", also({ method: undefined })],
  ["no path", also({ path: 1 })],
  ["too much", also({ scopes: ["x".repeat(5000)] })],
])("rejects %s", (_, value) => {
  expect(verifyUserContext(KEY, value, "s", NOW)).toBeNull();
});

test("rejects an empty key", () => {
  expect(verifyUserContext("", signUserContext("", context), "s", NOW)).toBeNull();
});

test("signs a path without its query, and a long path by its hash", () => {
  expect(signedPath("/a/b?c=/d")).toBe("/a/b");
  expect(signedPath("*")).toBe("*");
  const long = `/${"x".repeat(20_000)}`;
  expect(signedPath(`${long}?q`)).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(signedPath(long)).not.toBe(signedPath(`${long}y`));
});
