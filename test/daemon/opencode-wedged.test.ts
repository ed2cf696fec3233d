import { afterAll, expect } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NO_AGENT_CONFIG } from "../../daemon/git/agent-config.ts";
import { createChildren } from "../../daemon/process/children.ts";
import { Latch } from "../../daemon/process/latch.ts";
import { type Runtime, superviseRuntime } from "../../daemon/runtime/runtime.ts";
import { readSettings } from "../../daemon/settings.ts";
import { freePort } from "../../scripts/free-port.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { WITHOUT_LIST } from "../helpers/agent-sandbox.ts";
import { startModel } from "../helpers/model.ts";
import { needs } from "../helpers/needs.ts";
import { RUNTIME, RUNTIME_NAME, runtimeEnvironment } from "../helpers/runtime.ts";
import { leastEnvironment } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-wedged-"));
let runtime: Runtime | null = null;
afterAll(async () => {
  await runtime?.stop();
  rmSync(folder, { recursive: true, force: true });
});

needs(RUNTIME_NAME, RUNTIME !== null)(
  "the real runtime, if it hangs during an answer, is restarted, and the answer is marked as cut off",
  async () => {
    await using model = await startModel();
    const [workspace, home] = [join(folder, "workspace"), join(folder, "home")];
    for (const path of [workspace, home]) mkdirSync(path);
    const settings = readSettings(
      {
        ...leastEnvironment(),
        ...runtimeEnvironment(model),
        ...WITHOUT_LIST,
        SVC_RUNTIME_PORT: String(freePort()),
        SVC_WORKSPACE: workspace,
        SVC_RUNTIME_HOME: home,
      },
      null,
    );
    const said: string[] = [];
    const complete = new Latch();
    complete.open();
    const works = superviseRuntime({
      settings,
      children: createChildren(),
      log: { info: (text) => said.push(text), runtime: () => {} },
      agentConfig: () => NO_AGENT_CONFIG,
      secrets: () => settings.secrets,
      choice: () => settings,
      workspace: complete,
      onReady: () => {},
      limits: { checkMs: 500, checkTimeoutMs: 4_000, checkFailures: 3, firstPauseMs: 100 },
    });
    runtime = works;
    works.start();
    const isReady = () => works.state === "ok";
    await until(() => `it is ready: ${said.join("\n")}`, isReady);
    const pid = works.pid ?? 0;
    const session = (await works.call("POST", "/session", WAIT_LIMIT_MS, { title: "svc" })).body;
    const sessionId =
      typeof session === "object" && session !== null ? String(Reflect.get(session, "id")) : "";
    const parts = [{ type: "text", text: `!slow 200 ${"word ".repeat(500)}` }];
    await works.call("POST", `/session/${sessionId}/prompt_async`, WAIT_LIMIT_MS, { parts });
    await until("it speaks", () => model.counts.open > 0);
    process.kill(pid, "SIGSTOP");
    await until("it was given up", () => said.some((line) => line.includes("stopped responding")));
    await until("another is ready", () => isReady() && works.pid !== pid);
    expect(said).toContain("1 answer was cut off by the restart");
    const isMarked = async () => {
      const { body } = await works.call("GET", `/session/${sessionId}/message`, WAIT_LIMIT_MS);
      return JSON.stringify(Array.isArray(body) ? body.at(-1) : null).includes("the answer above is cut off");
    };
    await until("it is marked", isMarked);
    await until("the model is let go", () => model.counts.open === 0);
  },
);
