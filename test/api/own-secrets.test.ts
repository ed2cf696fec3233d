import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SECRET_MAX_BYTES } from "../../src/contract/limits.ts";
import { SECRET_PROJECTS_MAX, SECRETS_MAX } from "../../src/contract/secret.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { stored } from "../helpers/stored.ts";

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

let people = 0;

/** A person with a project. */
async function fresh() {
  const token = await api.mint(`person-${++people}@example.com`);
  const path = "/v1/accounts/secrets";
  const call = (method: string, at: string, body?: unknown) =>
    api.call(method, at, { token, ...(body !== undefined && { body }) });
  const project = async (name = "Mine"): Promise<{ project_id: string; slug: string }> =>
    (await call("POST", "/v1/projects", { name })).body;
  return {
    token,
    call,
    project,
    set: (name: string, value: unknown) => call("PUT", `${path}/${encodeURIComponent(name)}`, { value }),
    unset: (name: string) => call("DELETE", `${path}/${encodeURIComponent(name)}`),
    allow: (name: string, id: string) => call("PUT", `${path}/${name}/projects/${id}`),
    deny: (name: string, id: string) => call("DELETE", `${path}/${name}/projects/${id}`),
    list: async () => (await call("GET", path)).body.items,
  };
}

describe("a person's own secrets", () => {
  test("are set, replaced, listed by name and removed; values are never returned", async () => {
    const { call, set, unset, list } = await fresh();
    const first = await set("LOGIN", "s3cr3t-value-one");
    expect([first.status, Object.keys(first.body).sort(), first.body.projects]).toEqual([
      200,
      ["created_at", "name", "projects", "updated_at"],
      [],
    ]);
    const again = await set("LOGIN", "s3cr3t-value-two");
    expect([again.status, again.body.created_at]).toEqual([200, first.body.created_at]);
    await set("_B2", "");
    expect((await call("GET", "/v1/accounts/secrets")).text).not.toContain("s3cr3t");
    expect((await list()).map(({ name }: { name: string }) => name)).toEqual(["LOGIN", "_B2"]);
    expect((await unset("LOGIN")).body).toEqual({ ok: true });
    expect((await unset("LOGIN")).status).toBe(404);
    expect((await list()).map(({ name }: { name: string }) => name)).toEqual(["_B2"]);
  });

  test("have the names of a project's", async () => {
    const { set, unset, project, allow, deny } = await fresh();
    const { slug } = await project();
    for (const name of ["lower", "1A", "A-B", "A".repeat(65), "A\0"]) {
      expect([name, (await set(name, "x")).status, (await unset(name)).status]).toEqual([name, 400, 404]);
      const at = encodeURIComponent(name);
      expect([(await allow(at, slug)).status, (await deny(at, slug)).status]).toEqual([404, 404]);
    }
    for (const name of ["SVC_TOKEN", "PATH", "LD_PRELOAD", "NODE_OPTIONS", "OPENCODE_CONFIG"])
      expect([name, (await set(name, "x")).body.code]).toEqual([name, "reserved_name"]);
  });

  test("have limits: 64 KiB, no NUL, 200 of one person", async () => {
    const { set, list } = await fresh();
    expect((await set("A", "x".repeat(SECRET_MAX_BYTES))).status).toBe(200);
    for (const value of ["x".repeat(SECRET_MAX_BYTES + 1), "a\0b", 1])
      expect((await set("A", value)).status).toBe(400);
    const more = Array.from({ length: SECRETS_MAX + 5 }, (_, index) => set(`N${index}`, "x"));
    const refused = (await Promise.all(more)).filter(({ status }) => status !== 200);
    expect(refused.map(({ status, text }) => (status === 400 ? 400 : text))).toEqual(Array(6).fill(400));
    expect(await list()).toHaveLength(SECRETS_MAX);
    expect((await set("A", "again")).status).toBe(200);
  });

  test("are for the projects that the person names, by id or slug", async () => {
    const { set, allow, deny, project, list } = await fresh();
    const [one, two] = [await project("One"), await project("Two")];
    await set("LOGIN", "x");
    expect((await allow("OTHER", one.slug)).status).toBe(404);
    await allow("LOGIN", two.slug);
    const both = await allow("LOGIN", one.project_id);
    const shown = ({ project_id, slug }: typeof one, name: string) => ({ project_id, slug, name });
    expect(both.body.projects).toEqual([shown(one, "One"), shown(two, "Two")]);
    expect((await allow("LOGIN", one.slug)).body.projects).toHaveLength(2);
    // a new value is for the same ones
    expect((await set("LOGIN", "y")).body.projects).toHaveLength(2);
    expect((await deny("LOGIN", two.slug)).body.projects).toEqual([shown(one, "One")]);
    expect((await deny("LOGIN", two.slug)).status).toBe(404);
    await set("SECOND", "z");
    expect((await list()).map(({ projects }: { projects: unknown[] }) => projects.length)).toEqual([1, 0]);
  });

  test("have a limit of projects, and go with them", async () => {
    const { set, allow, project, call, list } = await fresh();
    await set("LOGIN", "x");
    const made = await Promise.all(Array.from({ length: SECRET_PROJECTS_MAX + 3 }, () => project()));
    const answers = await Promise.all(made.map(({ slug }) => allow("LOGIN", slug)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      ...Array(SECRET_PROJECTS_MAX).fill(200),
      ...Array(3).fill(400),
    ]);
    const [first] = (await list())[0].projects;
    expect((await allow("LOGIN", first.slug)).status).toBe(200);
    expect((await call("DELETE", `/v1/projects/${first.project_id}`)).status).toBe(200);
    expect((await list())[0].projects).toHaveLength(SECRET_PROJECTS_MAX - 1);
  });

  test("are nobody else's, and not a project's", async () => {
    const [mine, other] = [await fresh(), await fresh()];
    const { project_id, slug } = await mine.project();
    await mine.set("LOGIN", "x");
    await mine.allow("LOGIN", slug);
    expect(await other.list()).toEqual([]);
    expect((await other.unset("LOGIN")).status).toBe(404);
    await other.set("LOGIN", "y");
    expect((await other.allow("LOGIN", project_id)).status).toBe(403);
    expect((await mine.call("GET", `/v1/projects/${project_id}/secrets`)).body.items).toEqual([]);
  });

  test("are never on the disk in plain text", async () => {
    const { set } = await fresh();
    const [name, value] = ["NAME_IN_PLAIN", `plain-${crypto.randomUUID()}`];
    await set(name, value);
    const text = await stored(api);
    expect([text.includes(name), text.includes(value)]).toEqual([true, false]);
  });
});
