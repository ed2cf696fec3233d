import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startTriggers, type TriggerBench } from "../helpers/triggers.ts";
import { until } from "../helpers/until.ts";

const FILE = `\u{feff}svc_version = 1 # kept\r\n\r\n[[triggers]]\r\nslug = "a" # "enabled = true"\r\ntype   = "cron"\r\ncron   = "0 0 * * *"\r\nprompt = """\r\nenabled = true\r\n"""\r\nenabled\t=  true   # why\r\n[[triggers]]\r\nslug = "b"\r\ntype = "cron"\r\ncron = "0 0 * * *"\r\nprompt = "x"\r\nenabled = false`;

let svc: TriggerBench;
beforeAll(async () => {
  svc = await startTriggers("2026-03-01T12:00:00Z");
});
afterAll(() => svc.stop());
beforeEach(async () => {
  svc.remote.hook("update", "exit 0");
  await commit(FILE);
});

const commit = async (text: string, more: Record<string, string> = {}) => {
  const tip = svc.remote.commit("main", { "svc.toml": text, "other.txt": "x\n", ...more });
  await svc.api.call("PATCH", `/v1/projects/${svc.projectId}`, { body: { name: "Example" } });
  await until("it is followed", async () => (await svc.call("GET", "")).body.commit === tip);
};
const set = (slug: string, enabled: boolean, token?: string) =>
  svc.call("PATCH", `/${slug}`, { body: { enabled }, ...(token && { token }) });
const text = (ref = "main") => svc.remote.git("show", `refs/heads/${ref}:svc.toml`);
const off = FILE.replace("enabled\t=  true   # why", "enabled\t=  false   # why");
const projectToken = async () => {
  const { body } = await svc.api.call("POST", `/v1/projects/${svc.projectId}/cli-token`, {
    body: { name: "t" },
  });
  return body.token;
};
const branches = () =>
  svc.remote.git("for-each-ref", "--format=%(refname)", "refs/heads/svc").split("\n").length - 1;

test("a user's change is merged at once, as a change request that changes that one value", async () => {
  const { status, body } = await set("a", false);
  expect([status, body.status, body.reason]).toEqual([200, "merged", null]);
  expect(body.change_request).toMatchObject({
    status: "merged",
    title: "Disable trigger a",
    base_ref: "main",
  });
  expect(text()).toBe(off);
  expect(svc.remote.git("diff", "--name-only", "main~1", "main").trim()).toBe("svc.toml");
  await until("it is followed", async () => !(await svc.get("a")).enabled);
  const again = await set("a", true);
  expect(again.body.status).toBe("merged");
  expect(text()).toBe(FILE);
});

test("a value that is already set opens nothing", async () => {
  const before = branches();
  expect((await set("a", true)).body).toEqual({
    slug: "a",
    enabled: true,
    status: "unchanged",
    reason: null,
    change_request: null,
  });
  expect([branches(), text()]).toEqual([before, FILE]);
});

test("a project token's change stays open, and a second call finds it", async () => {
  const token = await projectToken();
  const { status, body } = await set("b", true, token);
  expect([status, body.status]).toEqual([200, "open"]);
  expect(body.reason).toContain(`svc cr merge ${body.change_request.number}`);
  expect(body.change_request).toMatchObject({ status: "open", opened_by_agent: true });
  expect([text(), text(body.change_request.head_ref)]).toEqual([FILE, FILE.replace(/false$/, "true")]);
  const again = await set("b", true, token);
  expect(again.body.change_request.number).toBe(body.change_request.number);
  // and a user's request for the same change merges it
  expect((await set("b", true)).body).toMatchObject({
    status: "merged",
    change_request: { number: body.change_request.number },
  });
});

test("if a merge needs approvals, it stays open with the reason", async () => {
  await commit(`${FILE}\r\n[change_requests]\r\nrequired_approvals = 1\r\n`);
  const { body } = await set("a", false);
  expect(body).toMatchObject({ status: "open", change_request: { status: "open", required_approvals: 1 } });
  expect(body.reason).toMatch(/needs 1 approval/);
  expect((await svc.get("a")).enabled).toBeTrue();
});

test("if the host protects the default branch, it stays open with the host's message", async () => {
  svc.remote.hook("update", '[ "$1" != refs/heads/main ] || { echo "main is protected" >&2; exit 1; }');
  const { body } = await set("a", false);
  expect(body.status).toBe("open");
  expect(body.reason).toContain("main is protected");
  expect(text()).toBe(FILE);
});

test("a branch that an earlier call left is reused", async () => {
  svc.remote.hook("update", '[ "$1" != refs/heads/main ] || exit 1');
  const first = (await set("a", false)).body.change_request;
  await svc.api.call("POST", `/v1/projects/${svc.projectId}/change-requests/${first.number}/close`);
  svc.remote.hook("update", "exit 0");
  const { body } = await set("a", false);
  expect(body.status).toBe("merged");
  expect(body.change_request.head_ref).toBe(first.head_ref);
  expect(text()).toBe(off);
});

test("concurrent calls get the same answer, and it is merged once", async () => {
  const before = Number(svc.remote.git("rev-list", "--count", "main"));
  const answers = await Promise.all(Array.from({ length: 6 }, () => set("a", false)));
  for (const { status, body } of answers) {
    expect(status).toBe(200);
    expect(["merged", "unchanged"]).toContain(body.status);
  }
  expect(text()).toBe(off);
  expect(Number(svc.remote.git("rev-list", "--count", "main")) - before).toBeLessThanOrEqual(2);
});

test.each([
  ["an unknown trigger", "none", { enabled: true }, 404],
  ["no value", "a", {}, 400],
  ["another value", "a", { enabled: "yes" }, 400],
])("%s is refused", async (_, slug, body, status) => {
  expect((await svc.call("PATCH", `/${slug}`, { body })).status).toBe(status);
});
