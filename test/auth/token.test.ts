import { afterAll, beforeAll, expect, test } from "bun:test";
import { tokens } from "../../db/schema/index.ts";
import { mintToken } from "../../src/identity/auth/token.ts";
import { type AccountRows, openAccountRows } from "../helpers/account-rows.ts";

const MAX = 500;
let rows: AccountRows;
beforeAll(async () => {
  rows = await openAccountRows();
});
afterAll(() => rows.database.close());

test("a user has at most 500 tokens, and at most 500 in each project", async () => {
  const { deps, user, account, project } = rows;
  const [one, two] = [await user("one"), await user("two")];
  const accountId = await account("a", { [one]: "owner", [two]: "member" });
  const [p, q] = [await project(accountId, "p"), await project(accountId, "q")];
  let made = 0;
  const fill = async (userId: string, projectId: string | null, count: number) => {
    const row = () => ({ userId, projectId, name: "t", hash: `${made++}` });
    if (count > 0) await deps.db.insert(tokens).values(Array.from({ length: count }, row));
  };
  const mint = (userId: string, projectId?: string) =>
    mintToken(deps.db, deps.keys, { userId, name: "t", ...(projectId !== undefined && { projectId }) });
  await fill(one, null, MAX - 1);
  await fill(one, p, MAX);
  await mint(one);
  await expect(mint(one)).rejects.toThrow("already 500 tokens");
  await expect(mint(one, p)).rejects.toThrow("already 500 tokens");
  // others' do not count, nor those of elsewhere
  for (const [userId, projectId] of [
    [two, undefined],
    [two, p],
    [one, q],
  ] as const)
    expect((await mint(userId, projectId)).row).toMatchObject({ userId, projectId: projectId ?? null });
});

test("a token is created as requested, and its secret is returned once and not stored", async () => {
  const { deps, user, account, project, session } = rows;
  const userId = await user("three");
  const accountId = await account("b", { [userId]: "owner" });
  const projectId = await project(accountId, "r");
  const { sessionId } = await session({ projectId, accountId, userId });
  const expiresAt = new Date("2027-01-01T00:00:00Z");
  const plain = await mintToken(deps.db, deps.keys, { userId, name: "  laptop " });
  expect(plain.row).toMatchObject({ name: "laptop", projectId: null, sessionId: null, expiresAt: null });
  const full = await mintToken(deps.db, deps.keys, { userId, name: "t", projectId, sessionId, expiresAt });
  expect(full.row).toMatchObject({ userId, projectId, sessionId, expiresAt });
  for (const { secret, row } of [plain, full]) {
    expect(secret).toMatch(/^svc_pat_[0-9A-Za-z]{43}$/);
    expect(row.hash).toBe(deps.keys.hashToken(secret));
    expect(JSON.stringify(row)).not.toContain(secret.slice(8));
  }
  expect(plain.secret).not.toBe(full.secret);
});
