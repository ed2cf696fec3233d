import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SECRET_MAX_BYTES } from "../../src/contract/limits.ts";
import { SECRETS_MAX } from "../../src/contract/secret.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { Remote } from "../helpers/remote.ts";
import { stored } from "../helpers/stored.ts";

let api: Api;
const remote = new Remote();
beforeAll(async () => {
  remote.commit("main", { a: "1\n" });
  api = await startApi();
});
afterAll(async () => {
  await api.stop();
  remote.remove();
});

async function fresh() {
  const { project_id } = await api.project(remote.url);
  const path = `/v1/projects/${project_id}/secrets`;
  return {
    path,
    set: (name: string, value: unknown, token = api.token) =>
      api.call("PUT", `${path}/${encodeURIComponent(name)}`, { body: { value }, token }),
    names: async () => (await api.call("GET", path)).body.items.map(({ name }: { name: string }) => name),
  };
}

describe("secrets", () => {
  test("are set, replaced, listed by name and removed; values are never returned", async () => {
    const { path, set, names } = await fresh();
    const first = await set("API_KEY", "s3cr3t-value-one");
    expect([first.status, Object.keys(first.body).sort()]).toEqual([
      200,
      ["created_at", "for", "name", "set_by", "updated_at"],
    ]);
    const again = await api.call("POST", path, { body: { name: "API_KEY", value: "s3cr3t-value-two" } });
    expect([again.status, again.body.created_at]).toEqual([200, first.body.created_at]);
    await set("_B2", "");
    const listed = await api.call("GET", path);
    expect(listed.text).not.toContain("s3cr3t");
    expect(await names()).toEqual(["API_KEY", "_B2"]);
    expect((await api.call("DELETE", `${path}/API_KEY`)).body).toEqual({ ok: true });
    expect((await api.call("DELETE", `${path}/API_KEY`)).status).toBe(404);
    expect(await names()).toEqual(["_B2"]);
  });

  test.each(["lower", "1A", "A-B", "A B", "A=B", "Ä", "A".repeat(65), "A\0"])(
    "rejects the name %j",
    async (name) => {
      const { path, set } = await fresh();
      expect((await set(name, "x")).status).toBe(400);
      expect((await api.call("POST", path, { body: { name, value: "x" } })).status).toBe(400);
      expect((await api.call("DELETE", `${path}/${encodeURIComponent(name)}`)).status).toBe(404);
    },
  );

  test.each([
    "SVC_TOKEN",
    "SVC_X",
    "PATH",
    "HOME",
    "PORT",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "NODE_OPTIONS",
    "BUN_OPTIONS",
    "BUN_BE_BUN",
    "GIT_DIR",
    "OPENCODE_CONFIG",
    "BASH_ENV",
    "DYLD_INSERT_LIBRARIES",
  ])("%s is reserved for the sandbox", async (name) => {
    const { set } = await fresh();
    const { status, body } = await set(name, "x");
    expect([status, body.code]).toEqual([400, "reserved_name"]);
  });

  test("have limits: 64 KiB, no NUL, 200 in a project", async () => {
    const { path, set, names } = await fresh();
    expect((await set("A", "x".repeat(SECRET_MAX_BYTES))).status).toBe(200);
    expect((await set("A", "x".repeat(SECRET_MAX_BYTES + 1))).status).toBe(400);
    expect((await set("A", "a\0b")).status).toBe(400);
    expect((await set("A", 1)).status).toBe(400);
    const more = Array.from({ length: SECRETS_MAX + 5 }, (_, index) => set(`N${index}`, "x"));
    const refused = (await Promise.all(more)).filter(({ status }) => status !== 200);
    expect(refused.map(({ status, text }) => (status === 400 ? 400 : text))).toEqual(Array(6).fill(400));
    expect(await names()).toHaveLength(SECRETS_MAX);
    expect((await set("A", "again")).status).toBe(200);
    expect((await api.call("GET", path)).body.next_cursor).toBeUndefined();
  });

  test("have an audience, which is kept when the value is replaced", async () => {
    const { path } = await fresh();
    const put = (body: unknown) => api.call("PUT", `${path}/KEY`, { body });
    expect((await put({ value: "x" })).body.for).toEqual(["sessions", "builds"]);
    const audience = ["apps", "apps:shop", "triggers:nightly_2", "apps"];
    expect((await put({ value: "x", for: audience })).body.for).toEqual(audience.slice(0, 3));
    expect((await put({ value: "y" })).body.for).toEqual(audience.slice(0, 3));
    for (const bad of [[], ["everything"], ["apps:"], ["apps:A"], ["sessions:x"], ["triggers:"], "sessions"])
      expect([bad, (await put({ value: "x", for: bad })).status]).toEqual([bad, 400]);
  });

  test("are listed beside those that the manifest requires", async () => {
    const own = new Remote();
    own.commit("main", {
      "svc.toml": 'svc_version = 1\n[env]\nrequired = ["KEY_A", "KEY_B"]\noptional = ["KEY_C", "KEY_A"]\n',
    });
    const { project_id } = await api.project(own.url);
    const path = `/v1/projects/${project_id}/secrets`;
    await api.call("PUT", `${path}/KEY_B`, { body: { value: "x" } });
    const asked = { required: ["KEY_A", "KEY_B"], optional: ["KEY_C"] };
    expect((await api.call("GET", path)).body).toMatchObject({ ...asked, missing: ["KEY_A"] });
    own.remove();
    // they are listed even if the repository is unreachable
    expect((await api.call("GET", path)).body).toMatchObject({ items: [{ name: "KEY_B" }], required: [] });
  });

  test("belong to one project, whose project tokens can access them", async () => {
    const [mine, other] = [await fresh(), await fresh()];
    await mine.set("KEY", "x");
    expect(await other.names()).toEqual([]);
    const project = mine.path.replace("/secrets", "");
    const { token } = (await api.call("POST", `${project}/cli-token`, { body: {} })).body;
    expect((await mine.set("KEY2", "x", token)).status).toBe(200);
    expect((await other.set("KEY2", "x", token)).status).toBe(403);
    expect((await mine.set("KEY2", "x", await api.mint("stranger@example.com"))).status).toBe(403);
  });

  test("are never on the disk in plain text", async () => {
    const { set } = await fresh();
    const [name, value] = ["NAME_IN_PLAIN", `plain-${crypto.randomUUID()}`];
    await set(name, value);
    const text = await stored(api);
    expect([text.includes(name), text.includes(value)]).toEqual([true, false]);
  });
});
