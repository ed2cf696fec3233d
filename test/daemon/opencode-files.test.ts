import { expect } from "bun:test";
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { outcomeOf, startAgentSandbox } from "../helpers/agent-sandbox.ts";
import { hasNamespace, NAMESPACE } from "../helpers/dark-network.ts";
import { runGit } from "../helpers/git-repo.ts";
import type { ScriptedModel } from "../helpers/model.ts";
import { needs } from "../helpers/needs.ts";
import type { OfflineReport } from "../helpers/offline-agent.ts";
import { RUNTIME, RUNTIME_NAME, RUNTIME_PLUGINS } from "../helpers/runtime.ts";
import type { Sandbox } from "../helpers/sandbox.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null && RUNTIME_PLUGINS !== null);

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
  JSON.stringify(
    model.requests.at(-1)?.body.messages.filter(({ role }: { role: string }) => role === "system"),
  );
const statusOf = async (sandbox: Sandbox) =>
  (await runGit(sandbox.workspace, ["status", "--porcelain", "--untracked-files=all"])).stdout.toString();

test("the model gets svc's skill and rules beside the project's, and the clone has no new files", async () => {
  const files = {
    "AGENTS.md": "Root rules of the project.\n",
    ".svc/agentrt/AGENTS.md": "Folder rules of the project.\n",
    "extra.md": "Extra rules of the project.\n",
    "opencode.json": `${JSON.stringify({ instructions: ["extra.md"] }, null, 2)}\n`,
    ".svc/agentrt/opencode.json": '{ "theme": "system" }\n',
    ".svc/agentrt/tools/none.md": "",
    ".opencode/agents/x.md": "Text.\n",
    ".svc/agentrt/skills/own/SKILL.md": "---\nname: own\ndescription: The project's own skill.\n---\nText.\n",
  };
  await using agent = await startAgentSandbox({ files });
  const { model, sandbox } = agent;
  const skills: { name: string }[] = await (await sandbox.call("GET", "/skill")).json();
  expect(skills.map(({ name }) => name)).toEqual(expect.arrayContaining(["svc", "own"]));
  expect(await answerTo(sandbox, "Hello")).toBe("Hello");
  const system = systemOf(model);
  for (const text of ["You work in an svc session", "Root rules", "Folder rules", "Extra rules"])
    expect(system).toContain(text);
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("How work leaves this svc session");
  expect(await answerTo(sandbox, '!tool skill {"name":"svc"}\n!say Read.')).toBe("Read.");
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("svc cr open --title");
  // a project's own tools find their packages
  for (const folder of [join(sandbox.home, "agentrt"), join(sandbox.workspace, ".opencode")])
    expect(lstatSync(join(folder, "node_modules")).isSymbolicLink()).toBe(true);
  expect(readdirSync(join(sandbox.home, ".config/opencode"))).toContain("node_modules");
  expect(await statusOf(sandbox)).toBe("");
  expect(readFileSync(join(sandbox.workspace, "opencode.json"), "utf8")).not.toContain("$schema");
  // nor does it stand in the way of what was pushed
  const { commit } = await sandbox.health();
  const pushed = '{ "instructions": ["extra.md"], "autoupdate": false }\n';
  await sandbox.repository.write([
    {
      name: "second",
      branch: sandbox.sessionId,
      parents: [commit ?? ""],
      files: { "opencode.json": pushed },
    },
  ]);
  const refreshed = await sandbox.call("POST", "/svc/refresh", "platform");
  expect(await refreshed.json()).toMatchObject({ ok: true });
  await sandbox.untilHealth("it is back", (health) => health.runtime === "ok");
  expect(readFileSync(join(sandbox.workspace, "opencode.json"), "utf8")).toBe(pushed);
  // changed files are not overwritten
  writeFileSync(join(sandbox.workspace, "opencode.json"), '{ "instructions": [] }\n');
  const { runtime_pid } = await sandbox.health();
  await sandbox.call("POST", "/svc/env", "platform", { revision: "2", env: { A: "1" } });
  await sandbox.untilHealth(
    "it is back",
    (health) => health.runtime === "ok" && health.runtime_pid !== runtime_pid,
  );
  expect((await statusOf(sandbox)).trim()).toBe("M opencode.json");
});

needs("a network namespace (unshare, ip)", RUNTIME !== null && RUNTIME_PLUGINS !== null && hasNamespace())(
  "without a network, a project's tools work, and the runtime sends no packet",
  async () => {
    const child = Bun.spawn(
      [...NAMESPACE, process.execPath, join(import.meta.dir, "../helpers/offline-agent.ts")],
      {
        stdio: ["ignore", "pipe", "pipe"],
        timeout: WAIT_LIMIT_MS,
      },
    );
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    if ((await child.exited) !== 0) throw new Error(err);
    const report: OfflineReport = JSON.parse(out);
    expect(report).toMatchObject({ answer: "Counted.", packets: 0 });
    expect(report.toolsSaid).toContain("The sum is 5");
    expect(report.toolsSaid).toContain("The sum is 7");
  },
);

test("a folder with the project's packages is unchanged; a run without a model explains how to set one", async () => {
  const own = '{ "dependencies": {} }\n';
  const files = {
    "tools/agent/package.json": own,
    "svc.toml": 'svc_version = 1\n[opencode]\nconfig_dir = "tools/agent"\n',
  };
  await using agent = await startAgentSandbox({ files, env: { SVC_OPENCODE_MODEL: "" } });
  const { sandbox } = agent;
  expect(readFileSync(join(sandbox.home, "agentrt/package.json"), "utf8")).toBe(own);
  expect(
    lstatSync(join(sandbox.home, "agentrt/node_modules"), {
      throwIfNoEntry: false,
    })?.isSymbolicLink() ?? false,
  ).toBe(false);
  expect(await outcomeOf(sandbox, "Hello there")).toMatchObject({
    state: "failed",
    error: expect.stringMatching(/^The agent has no model\. .*svc secrets set ANTHROPIC_API_KEY/),
  });
});
