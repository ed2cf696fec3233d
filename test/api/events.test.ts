import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ProjectEvent } from "../../src/contract/event.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { type EventStream, followEvents } from "../helpers/event-stream.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

let api: Api;
let remote: Remote;
let project: { project_id: string; slug: string };
let stream: EventStream;

beforeAll(async () => {
  api = await startApi();
  remote = new Remote();
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { b: "2\n" }, { from: "main" });
  project = await api.project(remote.url);
  stream = await followEvents(api.url, api.token, project.project_id);
});
afterAll(async () => {
  await stream.close();
  await api.stop();
  remote.remove();
});

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/v1/projects/${project.project_id}${path}`, body === undefined ? {} : { body });

/** The events of the changes that `change` makes, without ids and times. @param count those that are the last ones */
async function eventsOf(change: () => Promise<unknown>, last: (event: ProjectEvent) => boolean, count = 1) {
  const before = stream.events().length;
  await change();
  await until(
    () => `the events arrive; ${JSON.stringify(stream.events().slice(before))}`,
    () => stream.events().slice(before).filter(last).length >= count,
  );
  const events = stream.events().slice(before);
  return events.map(({ type, number, action }) => `${type} ${number ?? ""} ${action}`.replace("  ", " "));
}

test("publishes each change to the project's subscribers", async () => {
  const cr = (action: ProjectEvent["action"]) => (event: ProjectEvent) =>
    event.type === "change_request" && event.action === action;
  const opened = () => call("POST", "/change-requests", { title: "t", head_ref: "work" });
  expect(await eventsOf(opened, cr("created"))).toEqual(["change_request 1 created"]);
  const path = "/change-requests/1";
  const steps: [what: string, change: () => Promise<unknown>][] = [
    ["edited", () => call("PATCH", path, { title: "other" })],
    ["closed", () => call("POST", `${path}/close`)],
    ["opened again", () => call("POST", `${path}/reopen`)],
  ];
  for (const [what, change] of steps)
    expect([what, await eventsOf(change, cr("changed"))]).toEqual([what, ["change_request 1 changed"]]);
  // its branch has moved, which the next reader notices; then the commits are fetched, and what was pushed is known
  const pushed = async () => {
    remote.commit("work", { b: "3\n" });
    await Promise.all(Array.from({ length: 10 }, () => call("GET", path)));
  };
  expect(await eventsOf(pushed, cr("changed"), 2)).toEqual(Array(2).fill("change_request 1 changed"));
  const merged = () => call("POST", `${path}/merge`);
  expect(await eventsOf(merged, ({ type }) => type === "branch")).toEqual([
    "change_request 1 changed",
    "branch changed",
  ]);
  const secret = ({ type }: ProjectEvent) => type === "secret";
  const set = () => call("PUT", "/secrets/KEY", { value: "hush" });
  expect(await eventsOf(set, secret)).toEqual(["secret created"]);
  expect(await eventsOf(set, secret)).toEqual(["secret changed"]);
  expect(await eventsOf(() => call("DELETE", "/secrets/KEY"), secret)).toEqual(["secret deleted"]);
  const renamed = () => call("PATCH", "", { name: "Other" });
  expect(await eventsOf(renamed, ({ type }) => type === "project")).toEqual(["project changed"]);
  expect(stream.entries.map(({ id }) => Number(id))).toEqual(
    stream.entries.map((_, at) => Number(stream.entries[0]?.id) + at),
  );
  expect(JSON.stringify(stream.entries)).not.toContain("hush");
});

test("a push publishes the branches that it moved", async () => {
  const url = new URL(`${api.url}/v1/git/${project.project_id}.git`);
  url.username = "x";
  url.password = api.token;
  const branches = () =>
    stream.events().flatMap(({ type, id, action }) => (type === "branch" ? `${id} ${action}` : []));
  const before = branches().length;
  const push = async (last: string, ...refs: string[]) => {
    const command = ["git", "-C", remote.path, "push", "--quiet", url.href, ...refs];
    expect(await Bun.spawn(command, { stderr: "inherit" }).exited).toBe(0);
    await until(last, () => branches().includes(last));
  };
  await push("pushed created", "main:refs/heads/pushed", "main:refs/heads/more", "main:refs/tags/v1");
  remote.commit("work", { b: "4\n" });
  await push("pushed changed", "work:refs/heads/pushed");
  await push("pushed deleted", ":refs/heads/pushed");
  expect(branches().slice(before).sort()).toEqual(
    ["pushed created", "more created", "pushed changed", "pushed deleted"].sort(),
  );
});

describe("a stream", () => {
  const open = (headers: Record<string, string>, query = "", name = project.project_id) =>
    fetch(`${api.url}/v1/projects/${name}/events${query}`, { headers });

  test("sends server-sent events that are not cached, also by the project's slug", async () => {
    const response = await open({ Authorization: `Bearer ${api.token}` }, "", project.slug);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store");
    await response.body?.cancel();
  });

  test("resumes after the last event that the client received", async () => {
    const { project_id } = project;
    const received = stream.entries.findLast(({ event }) => event.type === "secret");
    const on = await followEvents(api.url, api.token, project_id, { "Last-Event-ID": received?.id ?? "" });
    const after = await open({ Authorization: `Bearer ${api.token}` }, `?after=${received?.id}`);
    const first = Buffer.from((await after.body?.getReader().read())?.value ?? []).toString();
    expect(first).toStartWith(`id: ${received?.id}\nevent: ready\n`);
    const rest = stream.entries.slice(stream.entries.findIndex(({ id }) => id === received?.id) + 1);
    await until("it has caught up", () => on.entries.length > rest.length);
    expect(on.entries.slice(1)).toEqual(rest);
    await on.close();
  });

  test("requires read access to the project", async () => {
    const stranger = await api.mint("stranger@example.com");
    expect((await open({})).status).toBe(401);
    expect((await open({ Authorization: `Bearer ${stranger}` })).status).toBe(403);
    const minted = await call("POST", "/cli-token", { name: "t" });
    const ofProject = await open({ Authorization: `Bearer ${minted.body.token}` });
    expect(ofProject.status).toBe(200);
    await ofProject.body?.cancel();
    expect((await open({ Authorization: `Bearer ${api.token}` }, "?after=x")).status).toBe(400);
  });

  test("ends when the project is deleted", async () => {
    const { project_id: gone } = await api.project(remote.url, { name: "gone" });
    const ending = await followEvents(api.url, api.token, gone);
    await api.call("DELETE", `/v1/projects/${gone}`);
    await ending.ended;
    expect(ending.events().at(-1)).toMatchObject({ type: "project", id: gone, action: "deleted" });
  });
});
