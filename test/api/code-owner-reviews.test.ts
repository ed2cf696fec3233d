import { afterAll, beforeAll, expect } from "bun:test";
import type { Answer } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import type { Change } from "../helpers/remote.ts";
import { mergePause, type ReviewBench, startReviews } from "../helpers/reviewers.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const pause = mergePause();
let bench: ReviewBench;
let bob: string;
let cleo: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews({ deps: pause.deps });
  bob = await bench.member("bob@example.com");
  cleo = await bench.member("cleo@example.com");
});
afterAll(() => bench?.stop());

const RULE = "require_code_owner_review = true\n";
const manifest = (rules: string) => `svc_version = 1\n${rules}`;

type Cr = Answer["body"];
const act = (cr: Cr, verb: string, token = bench.api.token, method = "POST", body?: unknown) =>
  bench.call(method, `/change-requests/${cr.number}/${verb}`, { token, ...(body !== undefined && { body }) });
const get = async (cr: Cr): Promise<Cr> =>
  (await bench.call("GET", `/change-requests/${cr.number}`)).body.change_request;
/** Once it is read: on a busy machine a reader does not wait for it. */
async function reviewsOf(cr: Cr, state: string): Promise<Cr> {
  let reviews: Cr = null;
  await until(`the code owners are ${state}`, async () => {
    reviews = (await get(cr)).code_owner_reviews;
    return reviews?.state === state;
  });
  return reviews;
}
const inbox = async (token: string): Promise<[reason: string, number: number][]> => {
  const { body } = await bench.api.call("GET", "/v1/accounts/inbox", { token });
  return body.items.map((item: Cr) => [item.reason, item.change_request]);
};

/** The base with this rule and CODEOWNERS file, and a change request of these files. */
async function open(
  owners: string,
  files: Record<string, Change>,
  rules = `[change_requests]\n${RULE}`,
): Promise<Cr> {
  bench.remote.commit("main", { "svc.toml": manifest(rules), CODEOWNERS: owners });
  const cr = await bench.open();
  bench.remote.commit(cr.head_ref, files);
  return cr;
}

test("a merge waits for an owner of each file, on its last commit, and everything shows who", async () => {
  const cr = await open("/db/ bob@example.com\n/web/ cleo@example.com\n", {
    "db/a.sql": "1",
    "web/b.ts": "1",
  });
  const missing = [
    {
      line: 1,
      files: ["db/a.sql"],
      total: 1,
      owners: [{ user_id: expect.any(String), name: "bob" }],
      problem: null,
    },
    expect.objectContaining({ line: 2, files: ["web/b.ts"] }),
  ];
  expect(await reviewsOf(cr, "missing")).toEqual({ state: "missing", missing });
  expect(await act(cr, "merge")).toMatchObject({
    status: 409,
    body: { code: "code_owner_review_required", missing },
  });
  await act(cr, "approve", cleo);
  const { body: half } = await act(cr, "merge");
  expect([half.code, half.missing]).toEqual(["code_owner_review_required", [missing[0]]]);
  const { body: list } = await bench.call("GET", "/change-requests");
  expect(list.change_requests[0].code_owner_reviews).toEqual({ state: "missing", missing: [missing[0]] });
  await act(cr, "approve", bob);
  expect(await reviewsOf(cr, "approved")).toEqual({ state: "approved", missing: [] });
  await bench.call("GET", `/change-requests/${cr.number}/merge-preview`);
  await until("it is ready", async () =>
    (await inbox(bench.api.token)).some(([reason, number]) => reason === "ready" && number === cr.number),
  );
  // an approval of an earlier commit
  bench.remote.commit(cr.head_ref, { "web/b.ts": "2" });
  expect((await reviewsOf(cr, "missing")).missing).toEqual(missing);
  expect(await inbox(bench.api.token)).not.toContainEqual(["ready", cr.number]);
  await act(cr, "approve", cleo);
  // the approval of the others is enough, but not his
  expect(await inbox(bob)).toContainEqual(["review", cr.number]);
  await act(cr, "approve", bob);
  expect(await inbox(bob)).not.toContainEqual(["review", cr.number]);
  const merged = await act(cr, "merge");
  expect([merged.status, merged.body.code_owner_reviews]).toEqual([200, null]);
});

test("the file and the rule of the base count, and none of the head", async () => {
  const cr = await open("db/ bob@example.com\n", {
    "db/b.sql": "1",
    CODEOWNERS: "",
    "svc.toml": manifest(""),
  });
  await act(cr, "approve", cleo);
  expect((await act(cr, "merge")).body.code).toBe("code_owner_review_required");
  await act(cr, "approve", bob);
  expect((await act(cr, "merge")).status).toBe(200);
  // now the rule is gone
  const free = await bench.open();
  bench.remote.commit(free.head_ref, { "db/c.sql": "1" });
  expect((await act(free, "merge")).status).toBe(200);
  const other = await bench.open();
  await until("no review is required", async () => (await get(other)).code_owner_reviews === null);
});

test("a file that cannot be read whole lets nothing pass", async () => {
  const large = await open(`* bob@example.com\n${"#".repeat(256 * 1024)}`, { large: "1" });
  await act(large, "approve", bob);
  expect((await act(large, "merge")).body.error).toContain(
    "Line 1 of CODEOWNERS on the base branch cannot be read",
  );
  const many = await open(
    "* bob@example.com\n",
    Object.fromEntries(Array.from({ length: 3_001 }, (_, at) => [`many/${at}`, "1"])),
  );
  await act(many, "approve", bob);
  expect((await act(many, "merge")).body.error).toContain("too many files");
});

test("a mode, a deletion and both names of a renamed file have owners", async () => {
  bench.remote.commit("main", { "own/run": "1", "own/old": "a\nb\nc\n", "own/gone": "1" });
  const cr = await open("own/ bob@example.com\n/new cleo@example.com\n", {
    "own/run": { executable: "1" },
    ...{ "own/old": null, new: "a\nb\nc\n", "own/gone": null },
  });
  const { missing } = await reviewsOf(cr, "missing");
  expect(missing.map(({ files }: Cr) => files)).toEqual([["own/gone", "own/old", "own/run"], ["new"]]);
});

test("what a merge changes has owners too, where the base renamed the file", async () => {
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at}\n`);
  bench.remote.commit("main", { "free/f": lines.join("") });
  const cr = await open("/owned/ bob@example.com\n", { "free/f": ["first\n", ...lines].join("") });
  bench.remote.commit("main", { "free/f": null, "owned/f": lines.join("") });
  const answer = await act(cr, "merge");
  expect(answer.body.missing).toMatchObject([{ line: 1, files: ["owned/f"], total: 1 }]);
  await act(cr, "approve", bob);
  expect((await act(cr, "merge")).status).toBe(200);
});

test("an owner who withdraws the approval, or a base that brings an owner, stops the merge in progress", async () => {
  const cr = await open("/p/ bob@example.com\n", { "p/1": "1" });
  await act(cr, "approve", bob);
  pause.at("commit-written", () => act(cr, "approve", bob, "DELETE"));
  expect((await act(cr, "merge")).body.code).toBe("code_owner_review_required");
  expect(pause.isOver()).toBe(true);
  await act(cr, "approve", bob);
  pause.at("intent-recorded", () => bench.remote.commit("main", { CODEOWNERS: "/p/ cleo@example.com\n" }));
  const { body } = await act(cr, "merge");
  expect([body.code, pause.isOver()]).toEqual(["code_owner_review_required", true]);
  await act(cr, "approve", cleo);
  expect((await act(cr, "merge")).status).toBe(200);
});

test("auto-merge waits for the owner", async () => {
  const cr = await open("/auto/ bob@example.com\n", { "auto/1": "1" });
  const { head_commit_sha } = await get(cr);
  expect((await act(cr, "auto-merge", bench.api.token, "PUT", { head_commit_sha })).status).toBe(200);
  await act(cr, "approve", cleo);
  expect((await get(cr)).auto_merge).toMatchObject({ enabled: true });
  await act(cr, "approve", bob);
  await bench.merged(cr);
});

test("a merge queue takes in only what owners have approved, and lands only that", async () => {
  const rules = `[merge]\nqueue = true\n[checks]\nrequired = ["test"]\n[change_requests]\n${RULE}`;
  const cr = await open("/q/ bob@example.com\n", { "q/1": "1" }, rules);
  expect((await act(cr, "merge")).body.code).toBe("code_owner_review_required");
  await act(cr, "approve", bob);
  expect((await act(cr, "merge")).status).toBe(202);
  await act(cr, "approve", bob, "DELETE");
  await until("it is out of the queue", async () => (await get(cr)).queue?.state === "removed");
  expect((await get(cr)).queue.reason).toContain("needs the approval of a code owner");
  await act(cr, "approve", bob);
  expect((await act(cr, "merge")).status).toBe(202);
  await until("it is tested", async () => (await get(cr)).queue?.tested_commit_sha != null);
  const { tested_commit_sha: tested } = (await get(cr)).queue;
  await bench.call("POST", `/statuses/${tested}`, { body: { state: "success", context: "test" } });
  await bench.merged(cr);
});

test("an invalid value requires the review", async () => {
  const cr = await open(
    "/v/ bob@example.com\n",
    { "v/1": "1" },
    '[change_requests]\nrequire_code_owner_review = "no"\n',
  );
  expect((await act(cr, "merge")).body.code).toBe("code_owner_review_required");
});
