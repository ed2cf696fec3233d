import { expect } from "bun:test";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { outcomeOf, startAgentSandbox } from "../helpers/agent-sandbox.ts";
import { hasNamespace, NAMESPACE } from "../helpers/dark-network.ts";
import { needs } from "../helpers/needs.ts";
import type { OfflineReport } from "../helpers/offline-agent.ts";
import { RUNTIME, RUNTIME_NAME, RUNTIME_PLUGINS } from "../helpers/runtime.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null && RUNTIME_PLUGINS !== null);

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
