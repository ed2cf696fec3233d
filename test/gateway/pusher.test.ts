import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sessionSandboxes } from "../../db/schema/index.ts";
import { savedRef } from "../../src/contract/daemon.ts";
import { SvcError } from "../../src/contract/errors.ts";
import type { SessionStatus } from "../../src/contract/session.ts";
import { writeCloneCredential } from "../../src/edge/gateway/clone-credential.ts";
import { liveBranch, resolvePusher } from "../../src/edge/gateway/pusher.ts";
import { type AccountRows, openAccountRows } from "../helpers/account-rows.ts";

let rows: AccountRows;
let userId: string;
let accountId: string;
let projectId: string;
let otherId: string;
let token: string;

beforeAll(async () => {
  rows = await openAccountRows();
  userId = await rows.user("a");
  accountId = await rows.account("a", { [userId]: "admin" });
  projectId = await rows.project(accountId, "p");
  otherId = await rows.project(accountId, "q");
  token = await rows.token({ userId });
});
afterAll(() => rows.database.close());

/** Who it is, or the code and the words of the refusal. */
async function pusherOf(
  authorization: string | null,
  name = "p",
  required: "git:read" | "git:write" = "git:write",
) {
  try {
    return (await resolvePusher(rows.deps, authorization, name, required)).pusher;
  } catch (error) {
    if (error instanceof SvcError) return `${error.code}: ${error.message}`;
    throw error;
  }
}
const basic = (text: string) => Buffer.from(text).toString("base64");

describe("positions of the credential", () => {
  const NO_HEADER = "must be HTTP basic";
  const NO_TOKEN = "must be an svc token";
  const NO_PREFIX = "begins with svc_pat_";
  test.each<[what: string, header: (token: string) => string | null, says: string | null]>([
    ["the password", (t) => `Basic ${basic(`git:${t}`)}`, null],
    ["the password, without a user name", (t) => `Basic ${basic(`:${t}`)}`, null],
    ["the user name, without a password", (t) => `Basic ${basic(`${t}:`)}`, null],
    ["the user name, with x-oauth-basic as password", (t) => `Basic ${basic(`${t}:x-oauth-basic`)}`, null],
    ["a bearer token", (t) => `Bearer ${t}`, null],
    ["in capitals, and with spaces", (t) => `BASIC   ${basic(`git:${t}`)}  `, null],
    ["a bearer token in lower case, and with spaces", (t) => `bearer   ${t}  `, null],
    ["nowhere", () => null, "Authentication is required"],
    ["an empty header", () => "", NO_HEADER],
    ["a user name alone, without a colon", (t) => `Basic ${basic(t)}`, NO_TOKEN],
    ["a password with a colon", (t) => `Basic ${basic(`git:x:${t}`)}`, NO_PREFIX],
    ["no user name and password", () => `Basic ${basic(":")}`, NO_TOKEN],
    ["the user name, with another password", (t) => `Basic ${basic(`${t}:x-other`)}`, NO_PREFIX],
    ["a password with a leading space", (t) => `Basic ${basic(`git: ${t}`)}`, NO_TOKEN],
    ["a password with a line end", (t) => `Basic ${basic(`git:${t}\n`)}`, NO_TOKEN],
    ["without a space", (t) => `Basic${basic(`git:${t}`)}`, NO_HEADER],
    ["a bearer token without a space", (t) => `Bearer${t}`, NO_HEADER],
    ["more before it", (t) => `x Basic ${basic(`git:${t}`)}`, NO_HEADER],
    ["more before a bearer token", (t) => `x Bearer ${t}`, NO_HEADER],
    ["more after it", (t) => `Basic ${basic(`git:${t}`)} x`, NO_HEADER],
    ["more after a bearer token", (t) => `Bearer ${t} x`, NO_HEADER],
    ["invalid base64", (t) => `Basic !${basic(`git:${t}`)}`, NO_HEADER],
    ["a clone credential's prefix at the wrong place", (t) => `Bearer ${t}svc_git_`, "unknown or revoked"],
  ])("%s", async (_, header, says) => {
    const found = await pusherOf(header(token));
    if (says === null) expect(found).toEqual({ kind: "user", id: userId, role: "admin" });
    else expect(found).toContain(says);
    if (says !== null) expect(found).toStartWith("unauthorized");
  });

  test("accepts all base64 characters", async () => {
    // `>>>` and `???` are + and / of it
    for (const user of ["Zz9>>>???", "Zz9>>>???".repeat(3), "~~~\u00ff\u00bf"]) {
      const header = basic(`${user}:${token}`);
      for (const text of [header, header.replaceAll("+", "-").replaceAll("/", "_")])
        expect([text, await pusherOf(`Basic ${text}`)]).toEqual([
          text,
          expect.objectContaining({ kind: "user" }),
        ]);
    }
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-";
    for (const letter of letters)
      expect([letter, await pusherOf(`Basic ${letter.repeat(4)}`)]).toEqual([
        letter,
        expect.stringContaining(NO_TOKEN),
      ]);
  });
});

test("a project token identifies a script, unless it is a live session's", async () => {
  const script = await rows.token({ userId, projectId });
  expect(await pusherOf(`Bearer ${script}`)).toEqual({ kind: "project", id: expect.any(String) });
  const { sessionId, branch } = await rows.session({ projectId, accountId, userId });
  const ofSession = await rows.token({ userId, projectId, sessionId });
  expect(await pusherOf(`Bearer ${ofSession}`)).toEqual({ kind: "session", id: sessionId, branch });
  const stopped = await rows.session({ projectId, accountId, userId }, { status: "stopped" });
  const late = await rows.token({ userId, projectId, sessionId: stopped.sessionId });
  expect(await pusherOf(`Bearer ${late}`)).toBe(
    "forbidden: The session of this token is not running. Restart it: svc sessions restart <id>",
  );
  expect(await pusherOf(`Bearer ${ofSession}`, "q")).toStartWith("not_found");
});

describe("a clone credential", () => {
  let sessionId: string;
  let branch: string;
  let app: { sessionId: string; branch: string };
  const credential = (more: { saves?: boolean; id?: string; of?: string | null } = {}) =>
    writeCloneCredential(rows.deps, {
      runId: more.id ?? sessionId,
      projectId,
      branch: more.of === undefined ? branch : more.of,
      expiresAt: Math.floor(rows.now().getTime() / 1000) + 600,
      issuedFor: `key of ${more.id ?? sessionId}`,
      ...(more.saves && { saves: true }),
    });
  beforeAll(async () => {
    ({ sessionId, branch } = await rows.session({ projectId, accountId, userId }));
    app = await rows.session({ projectId, accountId, userId }, { isDeployment: true });
    for (const id of [sessionId, app.sessionId])
      await rows.deps.db
        .insert(sessionSandboxes)
        .values({ runId: id, state: "active", serviceKeyHash: `key of ${id}`, serviceKey: "sealed" });
  });

  test("identifies a session, its saved work, or an app", async () => {
    const id = sessionId;
    expect(await pusherOf(`Bearer ${credential()}`)).toEqual({ kind: "session", id, branch });
    expect(await pusherOf(`Basic ${basic(`x:${credential()}`)}`)).toEqual({ kind: "session", id, branch });
    expect(await pusherOf(`Bearer ${credential({ saves: true })}`)).toEqual({
      kind: "saver",
      id,
      branch,
      ref: savedRef(id),
    });
    const ofApp = credential({ id: app.sessionId, of: null });
    expect(await pusherOf(`Bearer ${ofApp}`)).toEqual({ kind: "reader", id: app.sessionId });
  });

  test("is for its own project only, by id or slug", async () => {
    for (const name of [projectId, projectId.toUpperCase(), "p"])
      expect([name, await pusherOf(`Bearer ${credential()}`, name)]).toEqual([
        name,
        expect.objectContaining({ kind: "session" }),
      ]);
    for (const name of [otherId, "q", "P", "nothing", ""])
      expect([name, await pusherOf(`Bearer ${credential()}`, name)]).toEqual([
        name,
        expect.stringContaining("another project"),
      ]);
  });
});

test.each<[status: SessionStatus, isLive: boolean]>([
  ["provisioning", true],
  ["running", true],
  ["stopped", false],
  ["failed", false],
])("the branch of a session that is %s is live: %p", async (status, isLive) => {
  const { sessionId, branch } = await rows.session({ projectId, accountId, userId }, { status });
  expect(await liveBranch(rows.deps, projectId, sessionId)).toBe(isLive ? branch : null);
  expect(await liveBranch(rows.deps, otherId, sessionId)).toBeNull();
  expect(await liveBranch(rows.deps, projectId, "none")).toBeNull();
});
