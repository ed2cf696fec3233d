import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ATTACHMENTS_MAX_BYTES } from "../../src/contract/limits.ts";
import { PNG } from "../helpers/attachments.ts";
import { svc } from "../helpers/cli-run.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_SESSION_CAP: "20" } });
});
afterAll(() => bench.stop());
afterEach(() => {
  bench.provider.onPrompt = () => ANSWERED;
});

const ANSWERED = { state: "answered", error: null } as const;
const RUNNING = { state: "running", error: null } as const;

/** `svc sessions …` as a user of the server. */
const run = (args: string[], stdin?: string) =>
  svc(["sessions", ...args], {
    env: {
      SVC_API_URL: `${bench.api.url}/v1`,
      SVC_CLI_TOKEN: bench.api.token,
      SVC_PROJECT_ID: bench.projectId,
    },
    ...(stdin !== undefined && { stdin }),
  });

async function running(): Promise<string> {
  const { session_id: id } = await bench.create();
  await bench.becomes(id, "running");
  return id;
}

test("a prompt is queued, waited for, and listed", async () => {
  const id = await running();
  const queued = await run(["prompt", id.slice(0, 8), "Run the\ttests"]);
  expect(queued).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f-]{36}: queued\n$/) });
  expect(queued.stderr).toContain(`Next: svc sessions prompts ${id.slice(0, 8)}\n`);
  const waited = await run(["prompt", id, "-", "--wait", "--jq", ".state"], "A long\none");
  expect(waited).toMatchObject({ code: 0, stdout: "answered\n" });
  expect(bench.provider.sandboxes.get(id)?.prompts.map(({ text }) => text)).toEqual([
    "Run the\ttests",
    "A long\none",
  ]);
  const rows = (await run(["prompts", id])).stdout.trimEnd().split("\n");
  expect(rows.map((row) => row.split("\t").toSpliced(4, 1).slice(1))).toEqual([
    ["2", "answered", "", "A long\\none"],
    ["1", "answered", "", "Run the\\ttests"],
  ]);
});

test("--wait exits with the outcome: 1 and an error unless it was answered", async () => {
  const id = await running();
  bench.provider.onPrompt = () => ({ state: "failed", error: "The model is \u001b[31maway." });
  const failed = await run(["prompt", id, "x", "--wait"]);
  expect(failed).toMatchObject({ code: 1, stdout: "" });
  expect(failed.stderr).toContain("error: Prompt 1 failed: The model is \\x1b[31maway.\n");
  const told = await run(["prompt", id, "x", "--wait", "--json"]);
  expect(JSON.parse(told.stderr.split("\n").findLast((line) => line.startsWith("{")) ?? "")).toMatchObject({
    error: { code: "prompt_failed", session_id: id },
  });
  bench.provider.onPrompt = () => RUNNING;
  const late = await run(["prompt", id, "x", "--wait", "--timeout", "1"]);
  expect(late).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Prompt 3 was not answered within 1 second"),
  });
  const stuck = run(["prompt", id, "y", "--wait"]);
  await until("it waits", async () => (await bench.call("GET", `/${id}/prompts`)).body.prompts.length === 4);
  await bench.call("POST", `/${id}/stop`);
  expect(await stuck).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`svc sessions restart ${id.slice(0, 8)}`),
  });
});

test("a queued prompt is withdrawn, a running one is aborted, and anything else is an error", async () => {
  const id = await running();
  bench.provider.onPrompt = () => RUNNING;
  for (const text of ["long", "mistake"]) await run(["prompt", id, text]);
  await until("it runs", async () => (await bench.call("GET", `/${id}/prompts`)).body.prompts[1].started_at);
  expect((await run(["prompts", id, "--withdraw", "2", "--jq", ".[0].state"])).stdout).toBe("aborted\n");
  for (const [which, words] of [
    ["1", "svc sessions abort"],
    ["2", "The prompt has ended."],
    ["3", "no prompt 3"],
  ] as const)
    expect(await run(["prompts", id, "--withdraw", which])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(words),
    });
  expect(await run(["abort", id])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is idle"),
  });
  const standIn = bench.provider.sandboxes.get(id);
  if (standIn) standIn.health.busy = true;
  expect(await run(["abort", id])).toMatchObject({ code: 0, stdout: `${id}: run aborted\n` });
});

test.each<[string[], string]>([
  [["prompt"], "id"],
  [["prompt", "1a2b3c4d"], "text"],
  [["prompt", "1a2b3c4d", "  "], "The prompt is empty."],
  [["prompt", "nonsense!", "x"], "Not a session"],
])("rejects the arguments %j", async (args, words) => {
  const ran = await run(args);
  expect([ran.code, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toContain(words);
});

test("--attach sends files with the prompt, and refuses others before anything is sent", async () => {
  const id = await running();
  const folder = mkdtempSync(join(tmpdir(), "svc-attach-"));
  try {
    const path = (name: string) => join(folder, name);
    writeFileSync(path("shot.jpg"), PNG);
    writeFileSync(path("notes.txt"), "Notes\n");
    writeFileSync(path("program"), "\x7fELF\0");
    writeFileSync(path("large.txt"), "a".repeat(ATTACHMENTS_MAX_BYTES));
    const attach = (...names: string[]) => names.flatMap((name) => ["--attach", path(name)]);
    const sent = await run(["prompt", id, "Look", "--wait", ...attach("shot.jpg", "notes.txt"), "--json"]);
    expect(JSON.parse(sent.stdout).attachments).toEqual([
      { name: "shot.jpg", type: "image/png", size: PNG.length },
      { name: "notes.txt", type: "text/plain", size: 6 },
    ]);
    for (const [names, words] of [
      [["program"], "--attach: program cannot be attached."],
      [["absent.png"], "absent.png cannot be read"],
      [["large.txt", "notes.txt"], "--attach: the files have more than 3145728 bytes together."],
      [Array(6).fill("notes.txt"), "at most 5 files"],
    ] as const) {
      const refused = await run(["prompt", id, "Look", ...attach(...names)]);
      expect(refused).toMatchObject({ code: expect.any(Number), stdout: "" });
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain(words);
    }
    expect(bench.provider.sandboxes.get(id)?.prompts).toHaveLength(1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
