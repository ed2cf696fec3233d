import { afterAll, expect } from "bun:test";
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runGit } from "../helpers/git-repo.ts";
import { type ScriptedModel, startModel } from "../helpers/model.ts";
import { needs } from "../helpers/needs.ts";
import { RUNTIME, RUNTIME_NAME, RUNTIME_PLUGINS, runtimeEnvironment } from "../helpers/runtime.ts";
import { type Sandbox, startSandbox } from "../helpers/sandbox.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null && RUNTIME_PLUGINS !== null);

const left: AsyncDisposable[] = [];
afterAll(async () => {
  for (const one of left.reverse()) await one[Symbol.asyncDispose]();
}, 60_000);

/** The daemon with the real runtime, on a repository with these files. */
async function start(files: Record<string, string>, env: Record<string, string> = {}, before: string[] = []) {
  const model = await startModel();
  left.push(model);
  const sandbox = await startSandbox({ files, env: { ...runtimeEnvironment(model), ...env }, before });
  left.push(sandbox);
  await sandbox.untilHealth("the runtime works", ({ runtime }) => runtime === "ok", 60_000);
  return { model, sandbox };
}

async function answerTo(sandbox: Sandbox, text: string): Promise<string> {
  const { id } = await (await sandbox.call("POST", "/session", "user", { title: "svc" })).json();
  const answer = await sandbox.call("POST", `/session/${id}/message`, "user", {
    parts: [{ type: "text", text }],
  });
  const { parts } = await answer.json();
  return parts
    .flatMap((part: { type: string; text?: string }) => (part.type === "text" ? [part.text] : []))
    .join("");
}

const systemOf = (model: ScriptedModel) =>
  JSON.stringify(model.asked.at(-1)?.body.messages.filter(({ role }: { role: string }) => role === "system"));
const statusOf = async (sandbox: Sandbox) =>
  (await runGit(sandbox.workspace, ["status", "--porcelain", "--untracked-files=all"])).stdout.toString();

test("the skill and the short rules reach the model, beside the project's own, and nothing shows in the clone", async () => {
  const { model, sandbox } = await start({
    "AGENTS.md": "Root rules of the project.\n",
    ".svc/agentrt/AGENTS.md": "Folder rules of the project.\n",
    "extra.md": "Extra rules of the project.\n",
    "opencode.json": `${JSON.stringify({ instructions: ["extra.md"] }, null, 2)}\n`,
    ".svc/agentrt/opencode.json": '{ "theme": "system" }\n',
    ".svc/agentrt/skills/own/SKILL.md": "---\nname: own\ndescription: The project's own skill.\n---\nText.\n",
  });
  const skills: { name: string }[] = await (await sandbox.call("GET", "/skill")).json();
  expect(skills.map(({ name }) => name)).toEqual(expect.arrayContaining(["svc", "own"]));
  expect(await answerTo(sandbox, "Hello")).toBe("Hello");
  const system = systemOf(model);
  for (const text of ["You work in an svc session", "Root rules", "Folder rules", "Extra rules"])
    expect(system).toContain(text);
  expect(JSON.stringify(model.asked.at(-1)?.body)).toContain("How work leaves this svc session");
  expect(await answerTo(sandbox, '!tool skill {"name":"svc"}\n!say Read.')).toBe("Read.");
  expect(JSON.stringify(model.asked.at(-1)?.body)).toContain("svc cr open --title");
  expect(await statusOf(sandbox)).toBe("");
  expect(readFileSync(join(sandbox.workspace, "opencode.json"), "utf8")).not.toContain("$schema");
  // what somebody has changed stays changed
  writeFileSync(join(sandbox.workspace, "opencode.json"), '{ "instructions": [] }\n');
  const { runtime_pid } = await sandbox.health();
  await sandbox.call("POST", "/svc/env", "platform", { revision: "2", env: { A: "1" } });
  await sandbox.untilHealth(
    "it is back",
    (health) => health.runtime === "ok" && health.runtime_pid !== runtime_pid,
    60_000,
  );
  expect((await statusOf(sandbox)).trim()).toBe("M opencode.json");
}, 120_000);

test("a project's own tool works with no network at all, within seconds", async () => {
  const tool = `import { tool } from "@opencode-ai/plugin"
export default tool({
  description: "Adds two numbers",
  args: { a: tool.schema.number(), b: tool.schema.number() },
  async execute({ a, b }) { return "The sum is " + (a + b) },
})
`;
  const { model, sandbox } = await start({
    ".svc/agentrt/tools/add.ts": tool,
    ".opencode/tools/plus.ts": tool,
  });
  const begun = performance.now();
  expect(await answerTo(sandbox, '!tool add {"a":2,"b":3}\n!tool plus {"a":3,"b":4}\n!say Counted.')).toBe(
    "Counted.",
  );
  expect(performance.now() - begun).toBeLessThan(20_000);
  const said = JSON.stringify(model.asked.at(-1)?.body.messages);
  expect(said).toContain("The sum is 5");
  expect(said).toContain("The sum is 7");
  expect(lstatSync(join(sandbox.workspace, ".svc/agentrt/node_modules")).isSymbolicLink()).toBe(true);
  expect(await statusOf(sandbox)).toBe("");
  expect(readdirSync(join(sandbox.home, ".config/opencode"))).toContain("node_modules");
}, 120_000);
