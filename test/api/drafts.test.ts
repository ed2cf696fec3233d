import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Api, startApi } from "../helpers/api.ts";
import { followEvents } from "../helpers/event-stream.ts";
import { Remote } from "../helpers/remote.ts";

const remote = new Remote();
let api: Api;
let projectId: string;
let branches = 0;

beforeAll(async () => {
  api = await startApi();
  remote.commit("main", { a: "1\n" });
  projectId = (await api.project(remote.url)).project_id;
});
afterAll(async () => {
  await api.stop();
  remote.remove();
});

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/v1/projects/${projectId}/change-requests${path}`, body === undefined ? {} : { body });

async function open(draft?: boolean) {
  const head_ref = `work-${++branches}`;
  remote.commit(head_ref, { [head_ref]: "1\n" }, { from: "main" });
  return (await call("POST", "", { title: "t", head_ref, ...(draft !== undefined && { draft }) })).body;
}

test.each<[opened: boolean | undefined, patch: boolean | undefined, isDraft: boolean]>([
  [undefined, undefined, false],
  [false, undefined, false],
  [true, undefined, true],
  [true, true, true],
  [true, false, false],
  [undefined, true, true],
  [undefined, false, false],
])(
  "opened with draft %p, then changed to %p: a draft is shown, and not merged",
  async (opened, patch, isDraft) => {
    const { number, draft } = await open(opened);
    expect(draft).toBe(opened ?? false);
    const at = `/${number}`;
    if (patch !== undefined) expect((await call("PATCH", at, { draft: patch })).body.draft).toBe(patch);
    // other edits leave it
    expect((await call("PATCH", at, { title: "other" })).body).toMatchObject({
      title: "other",
      draft: isDraft,
    });
    expect((await call("GET", "")).body.change_requests[0]).toMatchObject({ number, draft: isDraft });
    const merged = await call("POST", `${at}/merge`);
    expect([merged.status, merged.body.code]).toEqual(isDraft ? [409, "draft"] : [200, undefined]);
    expect((await call("GET", at)).body.change_request.status).toBe(isDraft ? "open" : "merged");
  },
);

test("only an open change request becomes a draft or ready; a closed draft is one when it is reopened", async () => {
  const { number } = await open(true);
  const at = `/${number}`;
  await call("POST", `${at}/close`);
  for (const draft of [true, false])
    expect(await call("PATCH", at, { draft, title: "not stored" })).toMatchObject({
      status: 409,
      body: { code: "not_open" },
    });
  expect((await call("POST", `${at}/reopen`)).body).toMatchObject({ draft: true, title: "t" });
  expect((await call("PATCH", at, { draft: "yes" })).status).toBe(400);
  const stream = await followEvents(api.url, api.token, projectId);
  await call("PATCH", at, { draft: false });
  await stream.waitFor("the change", (event) => event.type === "change_request" && event.number === number);
  await stream.close();
});
