import { afterAll, beforeAll, expect, test } from "bun:test";
import type { SessionConnection } from "../../src/contract/network.ts";
import type { LogLine } from "../../src/contract/session.ts";
import type { Deps } from "../../src/deps.ts";
import { applyEgress } from "../../src/features/runs/egress/apply.ts";
import { createEgressGate, type ServerEgressGate } from "../../src/features/runs/egress/gate.ts";
import { TARGETS_MAX } from "../../src/features/runs/egress/record.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;
let deps: Deps;
let gate: ServerEgressGate;

beforeAll(async () => {
  bench = await startSessions({
    env: { SVC_SESSION_CAP: "1000", SVC_EGRESS: "restricted", SVC_EGRESS_ALLOW: "registry.test" },
    deps: {
      manifestFeatures: [
        async (given) => {
          deps = given;
          return async () => [];
        },
        applyEgress,
      ],
    },
  });
  await until("the server has read the manifest", () => deps !== undefined);
  const { db, log, changes, clock, config } = deps;
  gate = createEgressGate({ db, log, changes, clock, limit: config.egress });
});
afterAll(() => bench.stop());

const manifest = (network: string) => ({ "svc.toml": `svc_version = 1\n[network]\n${network}\n` });
const networkOf = async (id: string) => (await bench.call("GET", `/${id}/network`)).body;
const follow = () =>
  bench.api.call("PATCH", `/v1/projects/${bench.projectId}`, { body: { name: "Example" } });
const start = async (base = "main") => {
  const { session_id } = await bench.create({ base_ref: base });
  await bench.becomes(session_id, "running");
  return session_id;
};

test("the policy is that of the default branch, below the limit of the server", async () => {
  const { remote, provider } = bench;
  remote.branch("topic", "main");
  remote.commit("topic", manifest('egress = "open"\nallow = ["evil.test"]'));
  const policyOn = async (base: string) => {
    const id = await start(base);
    const { egress, allow } = await networkOf(id);
    expect([provider.sandboxes.get(id)?.spec.egress, (await gate.policyOf(id)).mode]).toEqual([
      egress,
      egress,
    ]);
    return { egress, allow };
  };
  // open, but the server allows less
  expect(await policyOn("topic")).toEqual({ egress: "restricted", allow: ["registry.test"] });
  remote.commit("main", manifest('egress = "none"\nallow = ["a.test"]'));
  expect(await policyOn("topic")).toEqual({ egress: "none", allow: ["registry.test"] });
  remote.commit("main", manifest('egress = "restricted"\nallow = ["a.test"]'));
  expect(await policyOn("main")).toEqual({ egress: "restricted", allow: ["registry.test", "a.test"] });
});

test("a running sandbox gets the new list of the default branch, and keeps its mode", async () => {
  const { remote } = bench;
  const id = await start();
  remote.commit("main", manifest('egress = "none"\nallow = ["b.test"]'));
  await follow();
  await until("it has the list", async () => (await networkOf(id)).allow.includes("b.test"));
  expect(await networkOf(id)).toMatchObject({ egress: "restricted", allow: ["registry.test", "b.test"] });
  expect(await gate.policyOf(id)).toEqual({ mode: "restricted", allow: ["registry.test", "b.test"] });
});

test("the gate knows no policy of a sandbox that does not exist, and records nothing of it", async () => {
  const unknown = crypto.randomUUID();
  expect(gate.policyOf(unknown)).rejects.toThrow();
  gate.refused(unknown, { host: "x.test", port: 443, reason: "not_allowed" });
  await gate.flush();
});

test("each refused target is told once, with a count, and traffic is counted by host", async () => {
  const id = await start();
  const refuse = async (host: string, times: number) => {
    for (let time = 0; time < times; time++) gate.refused(id, { host, port: 443, reason: "not_allowed" });
    await gate.flush();
  };
  await refuse("x.example", 2);
  await refuse("x.example", 3);
  gate.passed(id, { host: "a.test", sent: 5, received: 7 });
  gate.passed(id, { host: "a.test", sent: 10, received: 20 });
  await gate.flush();
  const { connections } = await networkOf(id);
  const time = expect.any(String);
  expect(connections).toContainEqual({
    ...{
      outcome: "not_allowed",
      host: "x.example",
      port: 443,
      connections: 5,
      sent: 0,
      received: 0,
      last_at: time,
    },
  });
  expect(connections).toContainEqual({
    ...{
      outcome: "passed",
      host: "a.test",
      port: null,
      connections: 2,
      sent: 15,
      received: 27,
      last_at: time,
    },
  });
  const { body } = await bench.call("GET", `/${id}/logs`);
  const lines = body.lines
    .map(({ text }: LogLine) => text)
    .filter((text: string) => text.startsWith("refused"));
  expect(lines).toEqual(['refused: x.example:443; "svc network allow x.example" opens a change request']);
});

test("a session's record has a bound for each: the rest is counted together", async () => {
  const id = await start();
  for (const part of [0, 1])
    for (let number = 0; number < TARGETS_MAX; number++) {
      const host = `h${part}-${number}.test`;
      gate.refused(id, { host, port: 443, reason: "not_allowed" });
      gate.passed(id, { host, sent: 1, received: 1 });
      if (number % 50 === 0) await gate.flush();
    }
  await gate.flush();
  const { connections } = await networkOf(id);
  for (const outcome of ["passed", "not_allowed"]) {
    const rows = connections.filter((row: SessionConnection) => row.outcome === outcome);
    expect(rows).toHaveLength(TARGETS_MAX + 1);
    expect(rows.find(({ host }: SessionConnection) => host === null)).toMatchObject({
      ...{ port: null, connections: TARGETS_MAX },
    });
  }
});

test("allowing a host opens a change request, which nobody has merged, and a second call finds it", async () => {
  const { remote, api, projectId } = bench;
  remote.commit("main", manifest('egress = "restricted"\nallow = ["a.test"]'));
  const allow = (hosts: string[]) =>
    api.call("POST", `/v1/projects/${projectId}/network/allow`, { body: { hosts } });
  const { status, body } = await allow(["X.example.", "*.y.example:81"]);
  expect([status, body.status, body.egress, body.hosts]).toEqual([
    ...[200, "open", "restricted"],
    ["x.example", "*.y.example:81"],
  ]);
  expect(body.change_request).toMatchObject({
    status: "open",
    title: "Allow connections to x.example and 1 more",
  });
  const text = remote.git("show", `refs/heads/${body.change_request.head_ref}:svc.toml`);
  expect(text).toContain('allow = ["a.test", "x.example", "*.y.example:81"]\n');
  expect(remote.git("show", "refs/heads/main:svc.toml")).not.toContain("x.example");
  expect((await allow(["x.example", "*.y.example:81"])).body.change_request.number).toBe(
    body.change_request.number,
  );
  expect((await allow(["a.test"])).body).toMatchObject({ status: "unchanged", change_request: null });
  for (const host of ["https://x.example/", "*", "10.0.0.1/8"])
    expect([host, (await allow(["x.example", host])).status]).toEqual([host, 400]);
  remote.commit("main", { "svc.toml": "[[network]]\n" });
  expect((await allow(["x.example"])).body.error).toContain("by hand");
});
