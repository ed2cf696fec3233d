import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Answer, type Api, startApi } from "../helpers/api.ts";
import { git, Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

let api: Api;
const remotes: Remote[] = [];

beforeAll(async () => {
  api = await startApi();
});
afterEach(() => {
  for (const remote of remotes.splice(0)) remote.remove();
});
afterAll(() => api.stop());

/** A change request from `work` into `main`, whose head is kept. */
async function setUp() {
  const remote = new Remote();
  remotes.push(remote);
  remote.commit("main", { a: "1\n" });
  const first = remote.commit("work", { a: "2\n" }, { from: "main" });
  const project = await api.project(remote.url);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  await api.call("POST", path, { body: { title: "t", head_ref: "work" } });
  const get = async (): Promise<Answer["body"]> => (await api.call("GET", `${path}/1`)).body.change_request;
  const diff = async (): Promise<Answer["body"]> => (await api.call("GET", `${path}/1/diff`)).body;
  const act = (verb: string, body = {}) => api.call("POST", `${path}/1/${verb}`, { body });
  const kept = (...heads: string[]) =>
    until(`${heads} are kept`, () =>
      mirrors().some((refs) => heads.every((head, at) => refs.get(`refs/cr/1/head/${at + 1}`) === head)),
    );
  await kept(first);
  return { remote, first, get, diff, act, kept };
}

/** The refs of each mirror. */
function mirrors(): Map<string, string>[] {
  const root = join(api.dataDir, "mirrors");
  return readdirSync(root)
    .filter((name) => name.endsWith(".git"))
    .map((name) => {
      const lines = git(["-C", join(root, name), "for-each-ref", "--format=%(refname) %(objectname)"]).split(
        "\n",
      );
      return new Map(lines.map((line) => [line.split(" ")[0] ?? "", line.split(" ")[1] ?? ""]));
    });
}

type Place = Awaited<ReturnType<typeof setUp>>;

/** What can happen to a change request that has a diff. */
const EVENTS: [what: string, happen: (place: Place) => unknown][] = [
  ["its branch is deleted", ({ remote }) => remote.deleteBranch("work")],
  ["its base is deleted", ({ remote }) => remote.deleteBranch("main")],
  [
    "it is closed, and its branch is deleted",
    async ({ remote, act }) => {
      await act("close");
      remote.deleteBranch("work");
    },
  ],
  [
    "it is closed, and its branch goes on",
    async ({ remote, act }) => {
      await act("close");
      remote.commit("work", { a: "3\n" });
    },
  ],
  [
    "it is closed, and the repository is gone",
    async ({ remote, act }) => {
      await act("close");
      remote.remove();
    },
  ],
];

test.each(EVENTS)("a diff stays as it was when %s", async (_, happen) => {
  const place = await setUp();
  const before = await place.diff();
  expect(before.patch).toContain("+2\n");
  await happen(place);
  expect(await place.diff()).toEqual(before);
});

test("every head is kept, also those that a force push replaced, and the one that is merged", async () => {
  const { remote, get, act, first, kept } = await setUp();
  const second = remote.commit("work", { a: "3\n" });
  await get();
  await kept(first, second);
  remote.branch("work", "main");
  const third = remote.commit("work", { a: "4\n" });
  await get();
  await kept(first, second, third);
  // nobody reads it before the merge
  const fourth = remote.commit("work", { b: "1\n" });
  expect((await act("merge")).status).toBe(200);
  await kept(first, second, third, fourth);
});

test("a head that comes back is kept again, and one that is read twice is kept once", async () => {
  const { remote, get, first, kept } = await setUp();
  const second = remote.commit("work", { a: "3\n" });
  await get();
  await get();
  // a head that is replaced before it is fetched is gone
  await kept(first, second);
  remote.branch("work", first);
  await get();
  await kept(first, second, first);
});
