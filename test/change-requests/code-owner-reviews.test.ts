import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { changeRequestApprovals, changeRequests, users } from "../../db/schema/index.ts";
import { linesOf } from "../../src/features/change-requests/code-owners/ownership.ts";
import { parseOwners } from "../../src/features/change-requests/code-owners/parse.ts";
import { requireOwnerReviews } from "../../src/features/change-requests/code-owners/reviews.ts";
import { type AccountRows, openAccountRows, there } from "../helpers/account-rows.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";

const [HEAD, OLD] = ["b".repeat(40), "a".repeat(40)];
const PEOPLE = ["ada", "bob", "cleo", "dora", "gone"] as const;
type Who = (typeof PEOPLE)[number];

let rows: AccountRows;
let ids: Record<Who, string>;
/** Ada opened it. */
let row: typeof changeRequests.$inferSelect;

beforeAll(async () => {
  rows = await openAccountRows();
  const { db } = rows.deps;
  const made = await Promise.all(PEOPLE.map(async (who) => [who, await rows.user(who)] as const));
  const [ada, bob, cleo, dora, gone] = made.map(([, id]) => id);
  ids = { ada: ada ?? "", bob: bob ?? "", cleo: cleo ?? "", dora: dora ?? "", gone: gone ?? "" };
  await db.update(users).set({ emailProven: false }).where(eq(users.userId, ids.dora));
  const members = {
    [ids.ada]: "owner",
    [ids.bob]: "member",
    [ids.cleo]: "member",
    [ids.dora]: "member",
  } as const;
  const accountId = await rows.account("a", members);
  await rows.account("b", { [ids.gone]: "owner" });
  const projectId = await rows.project(accountId, "p");
  const values = {
    accountId,
    projectId,
    number: 7,
    createdBy: ids.ada,
    baseRef: "main",
    headRef: "work",
    title: "t",
  };
  row = there((await db.insert(changeRequests).values(values).returning())[0]);
});
afterAll(() => rows.database.close());
beforeEach(async () => {
  await rows.deps.db.delete(changeRequestApprovals);
});

type Given = Partial<Record<Who, { head: string; state: "approved" | "changes_requested" }>>;

async function review(given: Given): Promise<void> {
  await rows.deps.db.delete(changeRequestApprovals);
  for (const who of PEOPLE) {
    const one = given[who];
    if (!one) continue;
    const body = one.state === "approved" ? null : "No";
    const values = { crId: row.crId, userId: ids[who], headCommitSha: one.head, state: one.state, body };
    await rows.deps.db.insert(changeRequestApprovals).values(values);
  }
}

/** What a merge says of these files; null: it is allowed. */
async function missing(text: string, paths: readonly string[], selfApproval = false, isComplete = true) {
  const lines = await linesOf({ path: "CODEOWNERS", ...parseOwners(text) }, paths);
  const rule = { requireCodeOwnerReview: true, selfApproval };
  try {
    await requireOwnerReviews(rows.deps.db, row, HEAD, rule, { lines, isComplete });
    return null;
  } catch (error) {
    return error;
  }
}

/** Patterns, and what they match among `PATHS`. */
const PATTERNS: Record<string, RegExp> = {
  "*": /^/,
  "*.ts": /\.ts$/,
  "/src/": /^src\//,
  "docs/": /(^|\/)docs\//,
  "/src/a.ts": /^src\/a\.ts$/,
  "b.ts": /(^|\/)b\.ts$/,
  "docs/*": /^docs\/[^/]+$/,
};
const PATHS = ["a.ts", "b.ts", "src/a.ts", "src/b.ts", "docs/x.md", "docs/en/y.md", "src/docs/z.ts"];
/** A pattern that cannot be read. */
const UNREADABLE = "[ab].ts";
/** Owners, with the person whose approval each stands for. */
const WORDS: Record<string, Who | null> = {
  "ada@example.com": "ada",
  "Bob@example.com": "bob",
  "cleo@example.com": "cleo",
  // names, an address that is not verified, one who has left, one who never was, and what is no owner
  "@bob": null,
  "dora@example.com": null,
  "gone@example.com": null,
  "none@example.com": null,
  "@org/team": null,
  cleo: null,
};

const line = fc.record({
  pattern: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...Object.keys(PATTERNS)) },
    { weight: 1, arbitrary: fc.constant(UNREADABLE) },
  ),
  words: fc.subarray(Object.keys(WORDS), { maxLength: 3 }),
});
const given = fc.record(
  Object.fromEntries(
    PEOPLE.map((who) => [
      who,
      fc.record({
        head: fc.constantFrom(HEAD, HEAD, OLD),
        state: fc.constantFrom("approved" as const, "approved" as const, "changes_requested" as const),
      }),
    ]),
  ),
  { requiredKeys: [] },
);

test("a merge is allowed if, and only if, each owned file has the approval of one of its owners", async () => {
  const seen = new Set<boolean>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 5 }),
      fc.subarray(PATHS, { minLength: 1 }),
      given,
      fc.boolean(),
      async (lines, paths, reviews: Given, selfApproval) => {
        const approves = (who: Who) =>
          reviews[who]?.state === "approved" &&
          reviews[who]?.head === HEAD &&
          (selfApproval || who !== "ada");
        const isAllowed = paths.every((path) => {
          const deciding = lines.findLast(
            ({ pattern }) => pattern === UNREADABLE || PATTERNS[pattern]?.test(path),
          );
          if (!deciding) return true;
          if (deciding.pattern === UNREADABLE) return false;
          const people = deciding.words.map((word) => WORDS[word] ?? null);
          return people.length === 0 || people.some((who) => who !== null && approves(who));
        });
        await review(reviews);
        const text = lines.map(({ pattern, words }) => [pattern, ...words].join(" ")).join("\n");
        const found = await missing(text, paths, selfApproval);
        if (isAllowed) expect([text, found]).toEqual([text, null]);
        else expect(found).toMatchObject({ code: "code_owner_review_required", status: 409 });
        seen.add(isAllowed);
      },
    ),
    { numRuns: share(80, 2_000) },
  );
  expect(seen.size).toBe(2);
});

test.each<[text: string, says: string]>([
  ["* bob@example.com", "a.ts and 1 more belong to bob."],
  ["b.ts bob@example.com cleo@example.com", "b.ts belongs to bob, cleo."],
  ["* @bob", "Line 1 of CODEOWNERS on the base branch names no member by a verified e-mail address."],
  ["* ada@example.com", "Line 1 of CODEOWNERS on the base branch names only the person who opened this"],
  ["* bob@example.com\n\n[b].ts", "Line 3 of CODEOWNERS on the base branch cannot be read"],
])("%j: %s", async (text, says) => {
  expect(await missing(text, ["a.ts", "b.ts"])).toMatchObject({
    message: expect.stringContaining(`Change request #7 needs the approval of a code owner: ${says}`),
  });
});

test("the files of a line are counted and the first are named, in the order of the lines", async () => {
  const paths = Array.from({ length: 12 }, (_, at) => `src/${at}.ts`);
  const error = await missing("/src/ bob@example.com\nb.ts cleo@example.com\n", ["b.ts", ...paths]);
  expect(error).toMatchObject({
    message: expect.stringContaining("So do the files of 1 more line of CODEOWNERS."),
    extra: {
      missing: [
        {
          line: 1,
          files: paths.slice(0, 10),
          total: 12,
          owners: [{ user_id: ids.bob, name: "bob" }],
          problem: null,
        },
        { line: 2, files: ["b.ts"], total: 1, owners: [{ user_id: ids.cleo, name: "cleo" }], problem: null },
      ],
    },
  });
});

test("files that were not all read are never approved", async () => {
  await review({ bob: { head: HEAD, state: "approved" } });
  expect(await missing("* bob@example.com", ["a.ts"])).toBe(null);
  expect(await missing("* bob@example.com", ["a.ts"], false, false)).toMatchObject({
    message: expect.stringContaining("too many files"),
    extra: { missing: [{ line: null, total: 0 }] },
  });
});

test("who takes the name of an owner does not own their files", async () => {
  const { db } = rows.deps;
  await db.update(users).set({ name: "gone@example.com" }).where(eq(users.userId, ids.cleo));
  await review({ cleo: { head: HEAD, state: "approved" } });
  for (const owner of ["gone@example.com", "@gone@example.com", "@cleo"])
    expect(await missing(`* ${owner}`, ["a.ts"])).toMatchObject({ code: "code_owner_review_required" });
  await db.update(users).set({ name: "cleo" }).where(eq(users.userId, ids.cleo));
});
