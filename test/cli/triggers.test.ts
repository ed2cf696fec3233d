import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { Switched, TriggerList } from "../../src/contract/trigger.ts";
import { changeRequest, failure, fakeApi } from "../helpers/cli-api.ts";
import { svc } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const run = (line: string[], options: Parameters<typeof svc>[1] = {}) =>
  svc(line, { env: api.env, ...options });

describe("ls", () => {
  const list: TriggerList = { triggers: [], errors: [], commit: null, failure: null };
  test("prints a row per trigger", async () => {
    expect(await run(["triggers", "ls"])).toMatchObject({
      code: 0,
      stdout:
        "nightly\t0 3 * * * (Europe/Berlin)\ttrue\t2026-11-21T02:00:00.000Z\t2026-11-20T10:00:00.000Z\t\n",
    });
  });
  test("reports problems of the manifest and the repository", async () => {
    const error = { path: "triggers[0]", message: "x", line: 1, column: 1, severity: "error" } as const;
    api.on("GET /projects/:p/triggers", () => ({
      ...list,
      errors: [error],
      failure: "It is\u001b[31m away.",
    }));
    const { code, stdout, stderr } = await run(["triggers", "ls"]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toContain("has 1 error. Next: svc validate");
    expect(stderr).toContain("could not be read: It is");
    expect(stderr).not.toContain("\u001b[31m");
  });
  test("without triggers, prints the next step", async () => {
    api.on("GET /projects/:p/triggers", () => list);
    expect((await run(["triggers", "ls"])).stderr).toContain("No triggers yet");
  });
});

test("info prints the trigger, its firings and missed times", async () => {
  const { code, stdout } = await run(["triggers", "info", "nightly"]);
  expect(code).toBe(0);
  expect(stdout).toContain("prompt\tUpdate the packages.\n");
  expect(stdout).toContain("\tfired\tcron\t66666666-");
  expect(stdout).toContain("2026-11-20T10:00:00.000Z/2026-11-20T10:00:00.000Z\tmissed\tcron\t");
});

describe("fire", () => {
  test.each<[string[], string, unknown]>([
    [[], "", {}],
    [["--text", "Only src/"], "", { text: "Only src/" }],
    [["--text", "-"], "from stdin\n", { text: "from stdin\n" }],
  ])("%j sends the text", async (flags, stdin, body) => {
    const ran = await run(["triggers", "fire", "nightly", ...flags], { stdin });
    expect(ran).toMatchObject({ code: 0, stdout: "Session 66666666 is starting.\n" });
    expect(ran.stderr).toContain("Next: svc sessions info 66666666");
    expect(api.seen.at(-1)?.body).toEqual(body);
  });
  test("that has to wait explains how to free a slot", async () => {
    const session_id = "66666666-6666-4666-8666-666666666666";
    api.on("POST /projects/:p/triggers/:n/fire", () => ({ status: "waiting", session_id }));
    const ran = await run(["triggers", "fire", "nightly"]);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("waits for a free slot") });
    expect(ran.stderr).toContain("svc sessions stop");
  });
  test("of an unknown trigger fails with the server's message", async () => {
    api.on("POST /projects/:p/triggers/:n/fire", () => failure("not_found", "There is none.", 404));
    expect(await run(["triggers", "fire", "x"])).toMatchObject({ code: 1, stdout: "" });
  });
  test("with an empty text is a usage error", async () => {
    expect((await run(["triggers", "fire", "nightly", "--text", " "])).code).toBe(2);
  });
});

describe("enable and disable report the outcome", () => {
  const cr = changeRequest({ number: 7 });
  const answers: [Switched["status"], string, string][] = [
    ["unchanged", "nightly is already disabled.\n", ""],
    ["merged", "nightly is disabled: change request #7 is merged.\n", ""],
    [
      "open",
      "nightly will be disabled when change request #7 is merged.\n",
      "Not merged: Approvals are missing.",
    ],
  ];
  test.each(answers)("%s", async (status, stdout, note) => {
    const reason = status === "open" ? "Approvals are missing." : null;
    const change_request = status === "unchanged" ? null : cr;
    api.on("PATCH /projects/:p/triggers/:n", ({ body }) => ({
      slug: "nightly",
      enabled: Reflect.get(Object(body), "enabled"),
      status,
      reason,
      change_request,
    }));
    const ran = await run(["triggers", "disable", "nightly"]);
    expect(ran).toMatchObject({ code: 0, stdout });
    expect(ran.stderr).toContain(note);
    expect(api.seen.at(-1)?.body).toEqual({ enabled: false });
    await run(["triggers", "enable", "nightly"]);
    expect(api.seen.at(-1)?.body).toEqual({ enabled: true });
  });
});
