import { expect, test } from "bun:test";
import { allProcesses, descendantsOf, killFound } from "../helpers/processes.ts";
import { AGENT, startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const POST_PROMPT = ["POST", "/session/ses_1/prompt_async", "user", { parts: [] }] as const;

test("a stop aborts the run, waits for it, stops the runtime, and exits with 0", async () => {
  await using sandbox = await startSandbox({ behaviour: { runMs: 60_000, aborts: 2 } });
  await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  await sandbox.call(...POST_PROMPT);
  await sandbox.untilHealth("it is busy", ({ busy }) => busy);
  sandbox.child.kill("SIGTERM");
  expect(await sandbox.child.exited).toBe(0);
  expect(sandbox.notes().slice(2)).toEqual(["abort ses_1", "abort ses_1", expect.stringMatching(/^SIGTERM/)]);
});

test("a runtime that ignores signals does not delay a stop for long", async () => {
  await using sandbox = await startSandbox({
    behaviour: { runMs: 60_000, aborts: 10_000, ignoreSigterm: true, children: true },
  });
  await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  await sandbox.call(...POST_PROMPT);
  await sandbox.untilHealth("it is busy", ({ busy }) => busy);
  // 3 s for the run, 5 s for the process, 1 s for what it left
  sandbox.child.kill("SIGTERM");
  expect(await sandbox.child.exited).toBe(0);
});

test("a stop in the middle of a clone leaves nothing running", async () => {
  await using sandbox = await startSandbox({ env: { SVC_REPO_URL: "http://127.0.0.1:1/x.git" } });
  await sandbox.untilHealth("it has failed", ({ clone }) => clone === "failed");
  sandbox.child.kill("SIGTERM");
  expect(await sandbox.child.exited).toBe(0);
});

test("a second signal ends the daemon and the runtime at once", async () => {
  await using once = await startSandbox({ behaviour: { ignoreSigterm: true } });
  await using twice = await startSandbox({ behaviour: { ignoreSigterm: true } });
  await once.untilHealth("it works", ({ runtime }) => runtime === "ok");
  const { runtime_pid } = await twice.untilHealth("it works", ({ runtime }) => runtime === "ok");
  const ends: string[] = [];
  const ended = [once, twice].map(async (sandbox) => {
    sandbox.child.kill("SIGTERM");
    await until("it is stopping", () => sandbox.notes().some((note) => note.startsWith("SIGTERM")));
    if (sandbox === twice) sandbox.child.kill("SIGTERM");
    expect(await sandbox.child.exited).toBe(0);
    ends.push(sandbox === twice ? "twice" : "once");
  });
  await Promise.all(ended);
  expect(ends).toEqual(["twice", "once"]);
  await until("the runtime is gone", () => !allProcesses().some(({ pid }) => pid === runtime_pid));
});

test("a daemon continues if its log is closed", async () => {
  await using sandbox = await startSandbox({
    before: ["sh", "-c", `"$@" | sh -c 'head -n 4 >&2'; exit 0`, "sh"],
  });
  await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  for (let round = 0; round < 2; round++) {
    const { runtime_pid: before } = await sandbox.health();
    killFound(before, "SIGKILL");
    await sandbox.untilHealth(
      "it works again",
      ({ runtime, runtime_pid }) => runtime === "ok" && runtime_pid !== before,
    );
  }
  const daemon = descendantsOf(sandbox.child.pid).find(({ command }) => command.startsWith(AGENT.join(" ")));
  killFound(daemon?.pid, "SIGTERM");
  expect(await sandbox.child.exited).toBe(0);
});
