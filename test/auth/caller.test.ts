import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { accountMembers, tokens } from "../../db/schema/index.ts";
import { SvcError } from "../../src/contract/errors.ts";
import { openBrowserSession } from "../../src/identity/auth/browser.ts";
import { type Credentials, resolveCaller, resolveProject, userOf } from "../../src/identity/auth/caller.ts";
import { type AccountRows, openAccountRows } from "../helpers/account-rows.ts";
import { until } from "../helpers/until.ts";

const MINUTE = 60_000;
type Who = keyof typeof CREDENTIALS;
type Name = "id" | "ID" | "slug" | "sibling's id" | "sibling's slug" | "no id" | "no slug";

let rows: AccountRows;
let ids: Record<"owner" | "member" | "stranger" | "gone", string>;
let secrets: Record<"owner" | "member" | "stranger" | "gone" | "project" | "left" | "session", string>;
let browsers: Record<"owner" | "stranger", string>;
let names: Record<Name, string>;
let sessionId: string;

const bearer = (token: string): Credentials => ({ authorization: `Bearer ${token}` });
const CREDENTIALS = {
  owner: () => bearer(secrets.owner),
  member: () => bearer(secrets.member),
  stranger: () => bearer(secrets.stranger),
  "who has left": () => bearer(secrets.gone),
  "a project's token": () => bearer(secrets.project),
  "a session's token": () => bearer(secrets.session),
  "the project token of who has left": () => bearer(secrets.left),
  "the owner's browser": () => ({ authorization: null, browser: browsers.owner }),
  "a stranger's browser": () => ({ authorization: null, browser: browsers.stranger }),
  "a stranger's token in the owner's browser": () => ({
    ...bearer(secrets.stranger),
    browser: browsers.owner,
  }),
  "an unknown token in the owner's browser": () => ({
    ...bearer(`svc_pat_${"a".repeat(43)}`),
    browser: browsers.owner,
  }),
  "an unknown browser": () => ({ authorization: null, browser: "svc_bs_unknown" }),
  nobody: () => ({ authorization: null, browser: null }),
};

beforeAll(async () => {
  rows = await openAccountRows();
  const { user, account, project, token, session, deps } = rows;
  ids = {
    stranger: await user("stranger"),
    owner: await user("owner"),
    member: await user("member"),
    gone: await user("gone"),
  };
  await account("other", { [ids.stranger]: "owner" });
  const accountId = await account("a", { [ids.owner]: "owner", [ids.member]: "member", [ids.gone]: "admin" });
  const [sibling, projectId] = [await project(accountId, "sibling"), await project(accountId, "p")];
  ({ sessionId } = await session({ projectId, accountId, userId: ids.member }));
  secrets = {
    owner: await token({ userId: ids.owner }),
    member: await token({ userId: ids.member }),
    stranger: await token({ userId: ids.stranger }),
    gone: await token({ userId: ids.gone }),
    project: await token({ userId: ids.member, projectId }),
    left: await token({ userId: ids.gone, projectId }),
    session: await token({ userId: ids.member, projectId, sessionId }),
  };
  browsers = {
    owner: await openBrowserSession(deps, ids.owner),
    stranger: await openBrowserSession(deps, ids.stranger),
  };
  await deps.db
    .delete(accountMembers)
    .where(and(eq(accountMembers.accountId, accountId), eq(accountMembers.userId, ids.gone)));
  names = {
    id: projectId,
    ID: projectId.toUpperCase(),
    slug: "p",
    "sibling's id": sibling,
    "sibling's slug": "sibling",
    "no id": crypto.randomUUID(),
    "no slug": "nothing",
  };
});
afterAll(() => rows.database.close());

/** What comes of it, or the code of the refusal. */
const outcome = <T>(found: Promise<T>): Promise<T | string> =>
  found.catch((error: unknown) => {
    if (error instanceof SvcError) return error.code;
    throw error;
  });

describe("access to projects, and its role", () => {
  type Answers = Record<Name, string>;
  const opens = (role: string): Answers => ({
    id: `${role} p`,
    ID: `${role} p`,
    slug: `${role} p`,
    "sibling's id": `${role} sibling`,
    "sibling's slug": `${role} sibling`,
    "no id": "not_found",
    "no slug": "not_found",
  });
  // a slug can be guessed, so it is answered as one that does not exist
  const SHUT: Answers = {
    ...opens(""),
    id: "forbidden",
    ID: "forbidden",
    slug: "not_found",
    "sibling's id": "forbidden",
    "sibling's slug": "not_found",
  };
  const ofProject = (answers: Answers): Answers => ({
    ...answers,
    "sibling's id": "forbidden",
    "sibling's slug": "not_found",
    "no id": "forbidden",
  });
  const UNKNOWN: Answers = {
    id: "unauthorized",
    ID: "unauthorized",
    slug: "unauthorized",
    "sibling's id": "unauthorized",
    "sibling's slug": "unauthorized",
    "no id": "unauthorized",
    "no slug": "unauthorized",
  };
  test.each<[who: Who, answers: Answers]>([
    ["owner", opens("owner")],
    ["member", opens("member")],
    ["the owner's browser", opens("owner")],
    ["stranger", SHUT],
    ["a stranger's browser", SHUT],
    ["a stranger's token in the owner's browser", SHUT],
    ["who has left", SHUT],
    ["a project's token", ofProject(opens("member"))],
    ["a session's token", ofProject(opens("member"))],
    ["the project token of who has left", ofProject(SHUT)],
    ["an unknown token in the owner's browser", UNKNOWN],
    ["an unknown browser", UNKNOWN],
    ["nobody", UNKNOWN],
  ])("%s", async (who, answers) => {
    const seen: Record<string, string> = {};
    for (const [what, name] of Object.entries(names)) {
      const found = await outcome(resolveProject(rows.deps, CREDENTIALS[who](), name, "read"));
      seen[what] = typeof found === "string" ? found : `${found.role} ${found.project.slug}`;
    }
    expect(seen).toEqual(answers);
  });

  test.each([
    ["z9", "not_found"],
    ["9-z-", "not_found"],
    ["0", "not_found"],
    ["a".repeat(63), "not_found"],
    ["a".repeat(64), "validation_failed"],
    ["-a", "validation_failed"],
    ["P", "validation_failed"],
    ["p_p", "validation_failed"],
    ["p p", "validation_failed"],
    ["!p", "validation_failed"],
    ["p!", "validation_failed"],
    ["", "validation_failed"],
  ])("a project named %j: %s", async (name, code) => {
    expect(await outcome(resolveProject(rows.deps, CREDENTIALS.owner(), name, "read"))).toBe(code);
    expect(await outcome(resolveProject(rows.deps, CREDENTIALS.nobody(), name, "read"))).toBe("unauthorized");
  });
});

test("a credential resolves to its user, project and session", async () => {
  const of = async (who: Who) => await resolveCaller(rows.deps, CREDENTIALS[who](), null);
  const { userId, projectId } = { userId: ids.member, projectId: names.id };
  expect(await of("member")).toMatchObject({
    kind: "user",
    userId,
    tokenId: expect.any(String),
    expiresAt: null,
  });
  expect(await of("a project's token")).toMatchObject({
    kind: "project",
    userId,
    projectId,
    sessionId: null,
  });
  expect(await of("a session's token")).toMatchObject({ kind: "project", userId, projectId, sessionId });
  expect(await of("the owner's browser")).toMatchObject({ kind: "user", userId: ids.owner, tokenId: null });
  expect(await of("a stranger's token in the owner's browser")).toMatchObject({ userId: ids.stranger });
  for (const who of ["an unknown token in the owner's browser", "an unknown browser", "nobody"] as const)
    expect([who, await outcome(of(who))]).toEqual([who, "unauthorized"]);
  expect(await userOf(rows.deps, await of("member"))).toEqual({
    email: "member@example.com",
    name: "member",
  });
});

describe("the Authorization header of a token", () => {
  test.each<[header: (token: string) => string, says: string | null]>([
    [(token) => `Bearer ${token}`, null],
    [(token) => `bearer   ${token}  `, null],
    [(token) => `BEARER ${token}`, null],
    [(token) => `Bearer${token}`, "must read"],
    [(token) => `x Bearer ${token}`, "must read"],
    [(token) => `Bearer ${token} x`, "must read"],
    [(token) => `Bearer ${token}\u00e9`, "must read"],
    [(token) => `Basic ${token}`, "must read"],
    [() => "Bearer ", "must read"],
    [() => `Bearer ${"a".repeat(257)}`, "must read"],
    [() => "", "A token is required"],
    [(token) => `Bearer ${token}x`, "unknown or revoked"],
    [() => "Bearer svc_sb_x", "service key"],
    [() => "Bearer x_svc_sb_", "begins with svc_pat_"],
    [() => "Bearer x_svc_pat_", "begins with svc_pat_"],
  ])("%s: %p", async (header, says) => {
    const asked = resolveCaller(rows.deps, { authorization: header(secrets.owner) }, null);
    if (says === null) expect(await asked).toMatchObject({ userId: ids.owner });
    else await expect(asked).rejects.toThrow(says);
  });
});

test("a token is valid until the moment at which it expires", async () => {
  const userId = ids.owner;
  const authorization = `Bearer ${await rows.token({ userId, expiresAt: new Date(rows.now().getTime() + 1000) })}`;
  const ask = () => outcome(resolveCaller(rows.deps, { authorization }, null));
  rows.pass(999);
  expect(await ask()).toMatchObject({ userId });
  rows.pass(1);
  expect(await ask()).toBe("unauthorized");
});

describe("the last use of a token", () => {
  let authorization: string;
  let tokenId: string;
  beforeEach(async () => {
    authorization = `Bearer ${await rows.token({ userId: ids.owner })}`;
    const caller = await resolveCaller(rows.deps, { authorization }, null);
    tokenId = caller.tokenId ?? "";
    await isWritten(rows.now());
  });
  const lastUse = async (id: string) =>
    (await rows.deps.db.select().from(tokens).where(eq(tokens.tokenId, id)))[0]?.lastUsedAt?.getTime();
  const isWritten = (at: Date) =>
    until("it is written", async () => (await lastUse(tokenId)) === at.getTime());

  test.each([
    [MINUTE, false],
    [15 * MINUTE, false],
    [15 * MINUTE + 1, true],
  ])("is updated after %d ms: %p", async (ms, isAgain) => {
    const before = rows.now();
    rows.pass(ms);
    await resolveCaller(rows.deps, { authorization }, null);
    if (isAgain) return await isWritten(rows.now());
    // by the last of these answers it would be written
    for (let asked = 0; asked < 5; asked++) expect(await lastUse(tokenId)).toBe(before.getTime());
  });

  test("is recorded for this token only", async () => {
    const [other] = await rows.deps.db.select().from(tokens).where(eq(tokens.userId, ids.gone));
    rows.pass(60 * MINUTE);
    const before = await lastUse(other?.tokenId ?? "");
    await resolveCaller(rows.deps, { authorization }, null);
    await isWritten(rows.now());
    expect(await lastUse(other?.tokenId ?? "")).toBe(before);
  });
});
