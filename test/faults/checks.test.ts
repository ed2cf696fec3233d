import { afterAll, beforeAll, expect } from "bun:test";
import { CHECK_STEPS, type CheckStep, SESSION_STEPS, type SessionStep } from "../../src/deps.ts";
import { caller } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { benchChecks, type CheckBench, manifestOf } from "../helpers/own-checks.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { killAll } from "../helpers/processes.ts";
import { sample } from "../helpers/random.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);

let server: SessionServer;
let bench: CheckBench;

/** With real sandboxes: svc-agent of dist/. */
beforeAll(async () => {
  if (!POSTGRES) return;
  server = await startSessionServer();
  bench = benchChecks({
    ...server,
    call: (method, path, options) => caller(server.url(), server.token)(method, path, options),
  });
  await bench.rule(manifestOf('name = "test"\ncommand = "cat begun; env; sh test.sh"'));
});
afterAll(() => server?.stop());

const FILES = { begun: "begun\n", "test.sh": "sleep 0.5; grep -q good kind\n" };
const open = (kind: string) => bench.open({ ...FILES, kind });

/** A check has a run, whose own steps come between the start of the check and its first line. */
const RUN_STEPS = SESSION_STEPS.filter(
  (step) => !["branch-created", "sandbox-ended", "end-recorded"].includes(step),
);
const STEPS: readonly (CheckStep | SessionStep)[] = [
  ...CHECK_STEPS.slice(0, 2),
  ...RUN_STEPS,
  ...CHECK_STEPS.slice(2, -1),
];
/** From then on there is a sandbox whose processes can be killed. */
const ALIVE = RUN_STEPS.slice(RUN_STEPS.indexOf("sandbox-started"));

const leftOf = () =>
  until("no sandbox is left", () => server.folders().every((id) => server.processes(id).length === 0));

/** The check passes, if need be with another run. */
async function passes(number: number): Promise<void> {
  const ended = await bench.becomes(number, "test", "success", "failure", "error");
  if (ended.state !== "success") {
    expect(ended.state).toBe("error");
    expect(ended.description).toMatch(/killed|gone|ended|exited|lost|no longer/);
    await bench.project("POST", `/change-requests/${number}/checks/rerun`, { name: "test" });
    await bench.becomes(number, "test", "success");
  }
  await leftOf();
}

test("a check runs in a real sandbox on the commit, and its log is kept", async () => {
  const good = await open("good\n");
  const passed = await bench.becomes(good.number, "test", "success", "failure", "error");
  expect(passed).toMatchObject({ state: "success", sha: good.sha });
  await leftOf();
  const said = (await bench.log(passed)).lines
    .filter(({ source }) => source === "check")
    .map(({ text }) => text);
  expect(said[0]).toBe("begun");
  expect(said).toContain("CI=true");
  expect(said.join("\n")).not.toMatch(/SVC_TOKEN|svc_sb_/);
});

test("svc's own checks run on the merged result of a merge queue, which lands", async () => {
  const own = 'name = "test"\ncommand = "grep -q good kind && ls both"\nrequired = true';
  await bench.rule(`${manifestOf(own)}[merge]\nqueue = true\n`);
  const { number, head } = await open("good\n");
  // the head alone would fail
  server.remote.commit("main", { both: "1\n" });
  const merge = await bench.project("POST", `/change-requests/${number}/merge`, {});
  expect(merge).toMatchObject({ status: 202, body: { queue: { position: 1 } } });
  const read = async () => (await bench.project("GET", `/change-requests/${number}`)).body.change_request;
  await until("it is merged", async () => (await read()).status === "merged");
  const sha = server.remote.sha("main");
  expect(await read()).toMatchObject({ merge_commit_sha: sha });
  expect(server.remote.git("rev-parse", `${sha}^2`).trim()).toBe(server.remote.sha(head));
  const { statuses } = (await bench.project("GET", `/commits/${sha}/status`)).body;
  expect(statuses).toMatchObject([{ context: "test", state: "success", creator: null }]);
  await until("its branch is gone", () => server.remote.commitsBelow("svc-queue").length === 0);
  await leftOf();
  await bench.rule(manifestOf('name = "test"\ncommand = "cat begun; env; sh test.sh"'));
});

test.each(sample(1, STEPS).map((step) => [step] as const))(
  "the server is killed at %s of a check: it still passes",
  async (step) => {
    const reached = server.haltAt(step);
    const { number } = await open("good\n");
    await reached;
    await server.kill();
    await server.start();
    await passes(number);
  },
);

/** What ends a check, which `checks/own` holds with stand-ins: one of all in each run. */
const DRAWN = sample(1, [
  ...ALIVE.map((step) => ["sandbox", step] as const),
  ...STEPS.slice(1).map((step) => ["head", step] as const),
]);
const at = (what: (typeof DRAWN)[number][0]) =>
  DRAWN.filter(([drawn]) => drawn === what).map(([, step]) => [step] as const);

test.each(at("sandbox"))(
  "the sandbox of a check is killed at %s: it fails with the reason, and can be run again",
  async (step) => {
    const reached = server.haltAt(step);
    const { number } = await open("good\n");
    await reached;
    for (const id of server.folders()) killAll(server.processes(id));
    server.go();
    await passes(number);
  },
);

test.each(at("head"))("the head moves while a check is at %s: only the new head is checked", async (step) => {
  const reached = server.haltAt(step);
  const { number, head } = await open("bad\n");
  await reached;
  const pushed = bench.push(head, { kind: "good\n" });
  server.go();
  const sha = await pushed;
  await until("the new head has passed", async () => {
    const check = await bench.becomes(number, "test", "success", "failure", "queued", "running", "error");
    return check.sha === sha && check.state === "success";
  });
  await leftOf();
});
