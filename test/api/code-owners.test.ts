import { afterAll, beforeAll, expect } from "bun:test";
import postgres from "postgres";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  await bench.member("bob@example.com");
  await bench.member("bob@example.org");
  await bench.member("cleo@example.com");
  await bench.api.mint("stranger@example.com");
});
afterAll(() => bench?.stop());

/** The owners of the one file of a new change request, whose base and head have these files. */
async function ownersWith(base: Record<string, string>, head: Record<string, string> = {}) {
  const cr = await bench.open();
  bench.remote.commit("main", base);
  if (Object.keys(head).length > 0) bench.remote.commit(cr.head_ref, head);
  const { status, body } = await bench.call("GET", `/change-requests/${cr.number}/code-owners`);
  expect(status).toBe(200);
  return {
    ...body,
    names: body.files.map((file: { owners: { name: string }[] }) => file.owners.map(({ name }) => name)),
  };
}

test("there is no file", async () => {
  const cr = await bench.open();
  const { body } = await bench.call("GET", `/change-requests/${cr.number}/code-owners`);
  expect(body).toEqual({
    path: null,
    base_sha: bench.remote.sha("main"),
    files: [{ path: cr.head_ref, owners: [], line: null }],
    errors: [],
    truncated: false,
  });
});

test("the last line that matches decides, in the file of the base and not of the head", async () => {
  const found = await ownersWith(
    { CODEOWNERS: "* bob@example.com\nwork-* Cleo@example.com bob@example.org cleo@example.com\n" },
    { CODEOWNERS: "* bob@example.com\n", ".svc/CODEOWNERS": "* bob@example.com\n" },
  );
  expect(found).toMatchObject({ path: "CODEOWNERS", base_sha: bench.remote.sha("main"), errors: [] });
  const own = found.files.find((file: { path: string }) => file.path.startsWith("work-"));
  expect([own.line, own.owners.length]).toEqual([2, 2]);
});

test("an owner who is no member, or whose name two members have, is left out and reported", async () => {
  const { errors, files } = await ownersWith({
    ".github/CODEOWNERS": "* stranger@example.com cleo@example.com\nwork-* @bob stranger@example.com\n",
  });
  expect(files).toMatchObject([{ line: 2, owners: [] }]);
  expect(errors).toEqual([
    { line: 1, message: expect.stringContaining('Unknown owner "stranger@example.com"') },
    { line: 2, message: expect.stringContaining('Ambiguous owner "@bob"') },
    { line: 2, message: expect.stringContaining('Unknown owner "stranger@example.com"') },
  ]);
});

test("a file that is too large is ignored, and .svc comes first", async () => {
  const found = await ownersWith({ ".svc/CODEOWNERS": `* cleo@example.com\n${"#".repeat(256 * 1024)}` });
  expect(found).toMatchObject({
    path: ".svc/CODEOWNERS",
    names: [[]],
    errors: [{ line: 1, message: expect.stringContaining("262144 bytes") }],
  });
});

test("an address that is not verified, and one who has left, own nothing", async () => {
  await bench.member("dora@example.com");
  await bench.member("eve@example.com");
  const sql = postgres(bench.api.databaseUrl ?? "", { max: 1 });
  await sql`update users set email_proven = false where email = 'dora@example.com'`;
  await sql.end();
  await bench.leave("eve@example.com");
  const { names, errors } = await ownersWith({
    ".svc/CODEOWNERS": "* dora@example.com eve@example.com cleo@example.com\n",
  });
  expect([names, errors.length]).toEqual([[[expect.any(String)]], 2]);
});
