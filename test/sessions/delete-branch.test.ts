import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Answer } from "../helpers/api.ts";
import { followEvents } from "../helpers/event-stream.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";

let bench: SessionBench;
/** What happens between the steps of a merge. */
let between: (step: string) => unknown = () => {};
let branches = 0;

beforeAll(async () => {
  const deps = { checkpoint: async (step: string) => void (await between(step)) };
  bench = await startSessions({ env: { SVC_SESSION_CAP: "1000" }, deps });
});
afterEach(() => {
  between = () => {};
  bench.remote.git("config", "receive.denyDeletes", "false");
});
afterAll(() => bench.stop());

type Cr = Answer["body"];
const call = (method: string, path: string, body?: unknown, token = bench.api.token) =>
  bench.api.call(method, `/v1/projects/${bench.projectId}/change-requests${path}`, {
    token,
    ...(body !== undefined && { body }),
  });
const has = (branch: string) => bench.remote.git("branch", "--list", branch) !== "";

async function open(head_ref = `work-${++branches}`, more: object = {}): Promise<Cr> {
  bench.remote.commit(head_ref, { [head_ref]: "1\n" }, has(head_ref) ? {} : { from: "main" });
  const opened = await call("POST", "", { title: "t", head_ref, ...more });
  expect(opened.status).toBe(201);
  return opened.body;
}

const merge = (cr: Cr, body: object = { delete_branch: true }) => call("POST", `/${cr.number}/merge`, body);
const onceMerged = (act: () => unknown) => {
  between = (step) => (step === "merge-recorded" ? act() : undefined);
};
const push = (cr: Cr) => void bench.remote.commit(cr.head_ref, { later: `${cr.number}\n` });

async function ofSession(): Promise<Cr> {
  const { session_id } = await bench.create();
  await bench.becomes(session_id, "running");
  return await open(session_id, { session_id });
}

/** A change request, what happens before and after its merge, and why its branch is kept; null: it is deleted. */
const rows: [what: string, make: () => Promise<Cr>, act: (cr: Cr) => unknown, reason: string | null][] = [
  ["nothing else", open, () => {}, null],
  ["a push after the merge", open, (cr) => onceMerged(() => push(cr)), "has moved"],
  [
    "the branch reset after the merge",
    open,
    (cr) => onceMerged(() => bench.remote.branch(cr.head_ref, "main~1")),
    "has moved",
  ],
  [
    "the branch gone after the merge",
    open,
    (cr) => onceMerged(() => bench.remote.deleteBranch(cr.head_ref)),
    null,
  ],
  ["the branch protected", () => open("release/1"), () => protect("release/*"), "is protected"],
  ["the branch protected by the merge itself", () => open("keep/2"), protectInHead, "is protected"],
  ["another branch protected", () => open("release-2"), () => protect("release/*"), null],
  ["a session at work on it", ofSession, () => {}, "works on"],
  ["its session stopped", ofSession, (cr) => stop(cr), null],
  ["a session at work on another branch", open, () => ofSession(), null],
  ["another change request of it", open, (cr) => openOther(cr.head_ref), "is open and uses"],
  [
    "another one of it, closed",
    open,
    async (cr) => void (await call("POST", `/${(await openOther(cr.head_ref)).number}/close`)),
    null,
  ],
  [
    "a change request on top of it, which is retargeted",
    open,
    (cr) => open(`top-${++branches}`, { base_ref: cr.head_ref }),
    null,
  ],
  [
    "a host that refuses",
    open,
    () => bench.remote.git("config", "receive.denyDeletes", "true"),
    "refused to delete",
  ],
];

test.each(rows)(
  "with %s, the branch is deleted or kept, and the merge stands",
  async (_, make, act, reason) => {
    const cr = await make();
    await act(cr);
    const { status, body } = await merge(cr);
    expect([status, body.status]).toEqual([200, "merged"]);
    expect(body.head_branch).toEqual({
      deleted: reason === null,
      reason: reason === null ? null : expect.stringContaining(reason),
    });
    expect(has(cr.head_ref)).toBe(reason !== null);
    expect(bench.remote.git("merge-base", "main", body.head_commit_sha).trim()).toBe(body.head_commit_sha);
    expect((await call("GET", `/${cr.number}/diff`)).status).toBe(200);
  },
);

const manifest = (pattern: string) => `svc_version = 1\n[branches]\nprotected = ["${pattern}"]\n`;
const protect = (pattern: string) => void bench.remote.commit("main", { "svc.toml": manifest(pattern) });

/** The rule that comes into force with the merge counts. */
function protectInHead(cr: Cr): void {
  bench.remote.commit(cr.head_ref, { "svc.toml": manifest("keep/*") }, {});
}

async function stop({ head_ref }: Cr): Promise<void> {
  await bench.call("POST", `/${head_ref}/stop`);
  await bench.becomes(head_ref, "stopped");
}

async function openOther(head_ref: string): Promise<Cr> {
  const base_ref = `base-${++branches}`;
  bench.remote.branch(base_ref, "main");
  return (await call("POST", "", { title: "other", head_ref, base_ref })).body;
}

test("without the choice the branch is kept, and a deletion is an event of the branch", async () => {
  const kept = await open();
  const stream = await followEvents(bench.api.url, bench.api.token, bench.projectId);
  expect((await merge(kept, {})).body.head_branch).toBeUndefined();
  expect((await merge(await open(), { delete_branch: false })).body.head_branch).toBeUndefined();
  expect(has(kept.head_ref)).toBe(true);
  const gone = await open();
  await merge(gone);
  await stream.waitFor(
    "it",
    ({ type, id, action }) => type === "branch" && id === gone.head_ref && action === "deleted",
  );
  await stream.close();
});

test("a script cannot delete a branch by a merge: nothing is merged; a refused merge deletes nothing", async () => {
  const { token } = (await bench.api.call("POST", `/v1/projects/${bench.projectId}/cli-token`, { body: {} }))
    .body;
  const cr = await open();
  const refused = await call("POST", `/${cr.number}/merge`, { delete_branch: true }, token);
  expect([refused.status, refused.body.code]).toEqual([403, "forbidden"]);
  await call("PATCH", `/${cr.number}`, { draft: true });
  expect((await merge(cr)).body.code).toBe("draft");
  expect((await call("GET", `/${cr.number}`)).body.change_request.status).toBe("open");
  expect(has(cr.head_ref)).toBe(true);
});
