import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { fakeApi } from "../helpers/cli-api.ts";
import { app, deployment } from "../helpers/cli-apps.ts";
import { svc } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const run = (line: string[]) => svc(line, { env: api.env });
const ONE = "/projects/:p/apps/web";
const LINE = { at: "2026-11-20T10:00:00.000Z", source: "build", text: "no such \u001b[31mmodule" };

test("ls prints a row an app, and without any the next step", async () => {
  const url = "http://web--shop.localhost:8008/";
  expect(await run(["apps", "ls"])).toMatchObject({
    code: 0,
    stdout: `web\tlive\t${"c".repeat(40)}\t2026-11-20T10:00:00.000Z\t${url}\n`,
  });
  api.on("GET /projects/:p/apps", () => ({ apps: [] }));
  expect((await run(["apps", "ls"])).stderr).toContain("No apps yet. Add [[apps]] to svc.toml");
});

test("info prints the app, then its deployments", async () => {
  const { stdout } = await run(["apps", "info", "web"]);
  expect(stdout).toContain("slug\tweb\nstate\tlive\n");
  expect(stdout).toContain(`\n1\tlive\t${"c".repeat(40)}\tchanged\t`);
});

describe("deploy --wait", () => {
  /** The server answers one after the other with these states of the deployment. */
  const becomes = (...states: ("building" | "starting" | "live" | "failed" | "stopped")[]) => {
    const error = states.at(-1) === "live" ? null : "The build failed.";
    const next = deployment({ number: 2, deployment_id: "d", state: "building" });
    let looks = 0;
    api.on(`POST ${ONE}/deploy`, () => app({ next }));
    api.on(`GET ${ONE}`, () => {
      const state = states[Math.min(looks++, states.length - 1)] ?? "live";
      return { app: app(), deployments: [{ ...next, state, error }, deployment()] };
    });
    api.on(`GET ${ONE}/logs`, () => ({ deployment: next, lines: [LINE], truncated: false }));
  };

  test("waits until it is live", async () => {
    becomes("building", "starting", "live");
    const { code, stdout, stderr } = await run(["apps", "deploy", "web", "--wait"]);
    expect([code, stdout]).toEqual([0, "web: live at http://web--shop.localhost:8008/\n"]);
    expect(stderr).toContain("Deployment 2 is building…");
    expect(stderr).toContain("Deployment 2 is starting…");
  });

  test.each(["failed", "stopped"] as const)("fails with the end of the log when it is %s", async (state) => {
    becomes("building", state);
    const { code, stdout, stderr } = await run(["apps", "deploy", "web", "--wait"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("Deployment 2 of web");
    expect(stderr).toContain("The build failed.");
    expect(stderr).toContain("build | no such");
    expect(stderr).not.toContain("\u001b[31m");
    expect(stderr).toContain("svc apps logs web --deployment 2");
    expect(api.seen.at(-1)?.query).toEqual({ deployment: "2", tail: "20" });
  });

  test("gives up after --timeout, and says that it goes on", async () => {
    becomes("building");
    const { code, stderr } = await run(["apps", "deploy", "web", "--wait", "--timeout", "1"]);
    expect(code).toBe(1);
    expect(stderr).toContain("It goes on. To look: svc apps info web");
  });

  test("without it, it returns at once", async () => {
    becomes("building");
    expect(await run(["apps", "deploy", "web"])).toMatchObject({
      code: 0,
      stdout: "web: its deployment has begun\n",
    });
  });
});

test("logs and links are asked for as they were said", async () => {
  await run(["apps", "logs", "web", "--deployment", "3", "--tail", "5"]);
  expect(api.seen.at(-1)?.query).toEqual({ deployment: "3", tail: "5" });
  expect((await run(["apps", "open", "web"])).stdout).toBe("http://web--shop.localhost:8008/?token=x\n");
  expect((await run(["apps", "deploy"])).code).toBe(2);
});
