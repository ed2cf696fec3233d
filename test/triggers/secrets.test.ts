import { afterAll, beforeAll, expect, test } from "bun:test";
import { cron, startTriggers, type TriggerBench } from "../helpers/triggers.ts";
import { until } from "../helpers/until.ts";

let svc: TriggerBench;

/** Secrets, and what they are for. */
const AUDIENCES = {
  ALL: ["sessions"],
  APPS: ["apps"],
  PLAIN: ["triggers:plain"],
  FEW: ["triggers:few", "triggers:none"],
  OTHER: ["sessions"],
};

beforeAll(async () => {
  svc = await startTriggers("2026-03-01T12:00:00Z");
  for (const [name, audience] of Object.entries(AUDIENCES)) await put(name, { value: name, for: audience });
  await svc.have(
    cron("plain", "0 0 1 1 *"),
    cron("few", "0 0 1 1 *", 'secrets = ["ALL", "FEW", "APPS", "PLAIN", "UNKNOWN"]\nmodel = "lab/small"\n'),
    cron("none", "0 0 1 1 *", "secrets = []\n"),
  );
});
afterAll(() => svc.stop());

const put = (name: string, body: unknown) =>
  svc.api.call("PUT", `/v1/projects/${svc.projectId}/secrets/${name}`, { body });
const sessions = `/sessions`;
const call = (method: string, path: string, token = svc.api.token) =>
  svc.api.call(method, `/v1/projects/${svc.projectId}${path}`, {
    token,
    ...(method === "POST" && { body: {} }),
  });

async function started(id: string) {
  await until(
    "the session runs",
    async () => (await call("GET", `${sessions}/${id}`)).body.status === "running",
  );
  const sandbox = svc.provider.sandboxes.get(id);
  if (!sandbox) throw new Error("the session has no sandbox");
  const { environment } = sandbox;
  return { sandbox, names: environment["SVC_PROJECT_SECRET_NAMES"], token: environment["SVC_CLI_TOKEN"] };
}

test.each([
  ["plain", "ALL,OTHER,PLAIN", null],
  ["few", "ALL,FEW", "lab/small"],
  ["none", "", null],
])(
  "a session of the trigger %s gets the secrets %j, and so does what it starts",
  async (slug, names, model) => {
    const { session_id: id } = (await call("POST", `/triggers/${slug}/fire`)).body;
    const session = await started(id);
    expect([session.names, (await call("GET", `${sessions}/${id}`)).body.model]).toEqual([names, model]);
    const child = (await call("POST", sessions, session.token)).body.session_id;
    // a secret of the trigger only is not for sessions that its agent starts
    expect((await started(child)).names).toBe(names.replace(/,?(PLAIN|FEW)/, ""));
  },
);

test("a session keeps its trigger's secrets when they change, when it restarts, and when the trigger is removed", async () => {
  const { session_id: id } = (await call("POST", "/triggers/few/fire")).body;
  const { sandbox } = await started(id);
  await put("FEW", { value: "new" });
  await put("OTHER", { value: "new" });
  const sent = () => sandbox.envs.map(({ body }) => Reflect.get(Object(body), "env"));
  await until("it has them", () => sent().some((env) => env.FEW === "new"));
  for (const env of sent()) expect(Object.keys(env)).toEqual(["ALL", "FEW"]);
  await svc.have(cron("plain", "0 0 1 1 *"));
  await call("POST", `${sessions}/${id}/restart`);
  await until("it starts again", () => svc.provider.sandboxes.get(id) !== sandbox);
  expect((await started(id)).names).toBe("ALL,FEW");
});

test("a user's session gets the secrets of all sessions", async () => {
  expect((await started((await call("POST", sessions)).body.session_id)).names).toBe("ALL,OTHER");
});

test("the trigger lists the secrets of its sessions", async () => {
  await svc.have(cron("few", "0 0 1 1 *", 'secrets = ["ALL"]\nmodel = "lab/small"\n'));
  expect(await svc.get("few")).toMatchObject({ secrets: ["ALL"], model: "lab/small" });
});
