import { afterAll, beforeAll, expect, test } from "bun:test";
import { CR_LABELS_MAX, LABELS_MAX } from "../../src/contract/limits.ts";
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
  api.call(method, `/v1/projects/${projectId}${path}`, body === undefined ? {} : { body });
const label = (name: string, more: object = {}) => call("POST", "/labels", { name, ...more });
const edit = (number: number, body: object) => call("PATCH", `/change-requests/${number}`, body);
const namesOf = ({ labels }: { labels: { name: string }[] }) => labels.map(({ name }) => name);

async function open(labels?: string[]) {
  const head_ref = `work-${++branches}`;
  remote.commit(head_ref, { [head_ref]: "1\n" }, { from: "main" });
  return await call("POST", "/change-requests", { title: "t", head_ref, ...(labels && { labels }) });
}

test("a label is created, found in any case, renamed on its change requests, and taken off when it is deleted", async () => {
  expect(await label(" Needs/Docs ", { color: "D73A4A", description: "d" })).toMatchObject({
    status: 201,
    body: { name: "Needs/Docs", color: "d73a4a", description: "d" },
  });
  expect((await label("plain")).body).toEqual({ name: "plain", color: "ededed", description: null });
  expect(await label("NEEDS/docs")).toMatchObject({ status: 409, body: { code: "label_exists" } });
  const { number } = (await open(["needs/docs", "plain"])).body;
  const at = `/labels/${encodeURIComponent("needs/DOCS")}`;
  expect(await call("PATCH", at, { name: "plain" })).toMatchObject({ body: { code: "label_exists" } });
  const stream = await followEvents(api.url, api.token, projectId);
  expect((await call("PATCH", at, { name: "docs" })).body).toMatchObject({ name: "docs", color: "d73a4a" });
  await stream.waitFor("the change", ({ type, id }) => type === "label" && id === "docs");
  await stream.close();
  expect((await call("PATCH", "/labels/docs", { name: "Docs", color: "0e8a16" })).body.name).toBe("Docs");
  expect((await call("GET", `/change-requests/${number}`)).body.change_request.labels).toEqual([
    { name: "Docs", color: "0e8a16" },
    { name: "plain", color: "ededed" },
  ]);
  expect((await call("DELETE", "/labels/docs")).status).toBe(200);
  expect(await call("DELETE", "/labels/docs")).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect(namesOf((await call("GET", "/change-requests")).body.change_requests[0])).toEqual(["plain"]);
  expect(namesOf((await call("GET", "/labels")).body)).toEqual(["plain"]);
});

test.each([
  ["an empty name", { name: "" }],
  ["a blank name", { name: "  " }],
  ["dots alone", { name: ".." }],
  ["a comma", { name: "a,b" }],
  ["a line", { name: "a\nb" }],
  ["a direction mark", { name: "a\u202eb" }],
  ["too long a name", { name: "x".repeat(51) }],
  ["a color of five digits", { name: "x", color: "12345" }],
  ["the name of a color", { name: "x", color: "purple" }],
])("a label with %s is refused", async (_, body) => {
  expect(await call("POST", "/labels", body)).toMatchObject({
    status: 400,
    body: { code: "validation_failed" },
  });
});

test("labels are replaced, added and removed, and an unknown one is refused with the nearest name", async () => {
  await Promise.all(["bug", "ui", "later"].map((name) => label(name)));
  expect(await open(["bgu"])).toMatchObject({
    status: 400,
    body: {
      error: expect.stringContaining('no label "bgu". Did you mean "bug"?'),
      code: "validation_failed",
    },
  });
  const { number, labels } = (await open(["ui", "bug", "BUG"])).body;
  expect(namesOf({ labels })).toEqual(["bug", "ui"]);
  expect(namesOf((await edit(number, { labels: ["later"] })).body)).toEqual(["later"]);
  expect(namesOf((await edit(number, { title: "other" })).body)).toEqual(["later"]);
  expect(await edit(number, { title: "not stored", add_labels: ["bug", "nothing"] })).toMatchObject({
    status: 400,
  });
  expect((await edit(number, { remove_labels: ["nothing"] })).status).toBe(400);
  const both = await edit(number, { add_labels: ["bug", "ui"], remove_labels: ["later", "ui"] });
  expect(both.body).toMatchObject({ title: "other", labels: [{ name: "bug" }] });
  expect(namesOf((await edit(number, { labels: [] })).body)).toEqual([]);
  // one each at the same time
  await Promise.all(["bug", "ui", "later"].map((name) => edit(number, { add_labels: [name] })));
  const found = (await call("GET", `/change-requests/${number}`)).body.change_request;
  expect(namesOf(found)).toEqual(["bug", "later", "ui"]);
});

test("a list has those with all of the labels, in their order and by page", async () => {
  await Promise.all(["one", "two"].map((name) => label(name)));
  const made = [];
  for (const labels of [["one"], ["one", "two"], ["two"], ["one", "two"]])
    made.push((await open(labels)).body.number);
  const [first, second, third, fourth] = made;
  const list = async (query: string) => (await call("GET", `/change-requests?${query}`)).body;
  const numbers = (body: { change_requests: { number: number }[] }) =>
    body.change_requests.map(({ number }) => number);
  expect(numbers(await list("q=label:one"))).toEqual([fourth, second, first]);
  expect(numbers(await list("q=label:one+label:TWO"))).toEqual([fourth, second]);
  await call("POST", `/change-requests/${fourth}/close`);
  expect(numbers(await list("q=label:two&status=open"))).toEqual([third, second]);
  const page = await list("q=label:two&limit=1");
  expect(numbers(page)).toEqual([fourth]);
  expect(numbers(await list(`q=label:two&limit=1&cursor=${page.next_cursor}`))).toEqual([third]);
  expect(await call("GET", "/change-requests?q=label:twoo")).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('Did you mean "two"?') },
  });
});

test("a project and a change request have a limited number of labels", async () => {
  const full = new Remote();
  full.commit("main", { a: "1\n" });
  full.commit("work", { b: "1\n" }, { from: "main" });
  const { project_id } = await api.project(full.url);
  const within = (method: string, path: string, body: unknown) =>
    api.call(method, `/v1/projects/${project_id}${path}`, { body });
  const names = Array.from({ length: LABELS_MAX }, (_, index) => `label-${index}`);
  for (const name of names) expect((await within("POST", "/labels", { name })).status).toBe(201);
  expect(await within("POST", "/labels", { name: "one more" })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining(`${LABELS_MAX} labels`) },
  });
  const labels = names.slice(0, CR_LABELS_MAX);
  const opened = await within("POST", "/change-requests", { title: "t", head_ref: "work", labels });
  expect(opened.body.labels).toHaveLength(CR_LABELS_MAX);
  const more = await within("PATCH", "/change-requests/1", { add_labels: names.slice(-1) });
  expect(more).toMatchObject({ status: 400, body: { code: "validation_failed" } });
  full.remove();
});
