import { expect } from "bun:test";
import { startModel } from "../helpers/model.ts";
import { needs } from "../helpers/needs.ts";
import { RUNTIME, RUNTIME_NAME, runtimeEnvironment } from "../helpers/runtime.ts";
import { startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null);

/** What becomes of a prompt in a session that chose no model. */
async function promptWithout(extra: Record<string, string>) {
  await using model = await startModel();
  const { SVC_OPENCODE_MODEL: _chosen, ...environment } = runtimeEnvironment(model);
  await using sandbox = await startSandbox({ env: { ...environment, ...extra } });
  await sandbox.untilHealth("the runtime works", ({ runtime }) => runtime === "ok");
  const id = crypto.randomUUID();
  const ask = async () => {
    const body = { prompt_id: id, text: "Hello there" };
    return (await (await sandbox.call("POST", "/svc/prompt", "platform", body)).json()).prompt;
  };
  await until("it is over", async () => (await ask()).state !== "running");
  return { outcome: await ask(), asked: model.asked.map(({ body }) => body.model) };
}

test("a session that chooses no model has the gateway's", async () => {
  const { outcome, asked } = await promptWithout({ SVC_LLM_MODEL: "large" });
  expect(outcome).toMatchObject({ state: "answered" });
  expect(new Set(asked)).toEqual(new Set(["large"]));
});

test("a run without any model says how to get one", async () => {
  const { outcome } = await promptWithout({});
  expect(outcome).toMatchObject({
    state: "failed",
    error: expect.stringMatching(/^The agent has no model to ask\. .*svc secrets set ANTHROPIC_API_KEY/),
  });
});
