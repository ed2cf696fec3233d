import { beforeAll, describe, expect } from "bun:test";
import { join } from "node:path";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { AGENT_PROGRAMS } from "../helpers/agent-programs.ts";
import { hasNamespace, NAMESPACE } from "../helpers/dark-network.ts";
import { UPSTREAM_KEY } from "../helpers/model-bench.ts";
import { needs } from "../helpers/needs.ts";
import type { ProgramReport } from "../helpers/offline-program.ts";
import { sample } from "../helpers/random.ts";

const NETWORK = hasNamespace();
/** Each run draws one. */
const AGENTS = sample(1, [
  ["claude", "/v1/messages", UPSTREAM_KEY],
  ["codex", "/v1/responses", `Bearer ${UPSTREAM_KEY}`],
  ["opencode", "/v1/chat/completions", `Bearer ${UPSTREAM_KEY}`],
] as const);
const INSTALLED = AGENTS.map(([agent]) => agent).filter((agent) => AGENT_PROGRAMS[agent].path !== null);

/** One server runs the agents one after the other. */
let reports: ProgramReport[] = [];
beforeAll(async () => {
  if (NETWORK && INSTALLED.length > 0) reports = await run(INSTALLED);
});

describe("through the gateway, offline, a prompt with a tool call is answered by", () => {
  for (const [agent, path, credential] of AGENTS) {
    const { name, path: program } = AGENT_PROGRAMS[agent];
    const test = needs(NETWORK ? name : "a network namespace (unshare, ip)", program !== null && NETWORK);
    test(agent, () => {
      const report = reports[INSTALLED.indexOf(agent)];
      if (!report) throw new Error("there is no report");
      expect(report).toMatchObject({ code: 0, packets: 0, credentials: [credential] });
      expect(report.out).toContain("The command printed: ran-42");
      expect(report.paths.filter((one) => one === path).length).toBeGreaterThanOrEqual(2);
      const { calls, incomplete, tokens } = report.used;
      expect({ incomplete, tokens }).toEqual({ incomplete: 0, tokens: { ...report.counted, cached: 0 } });
      expect(calls).toBe(report.paths.filter((one) => one === path).length);
    });
  }
});

async function run(agents: readonly string[]): Promise<ProgramReport[]> {
  const helper = join(import.meta.dir, "../helpers/offline-program.ts");
  // a Postgres outside the namespace cannot be reached
  const env = { ...process.env, TEST_DATABASE_URL: "" };
  const child = Bun.spawn([...NAMESPACE, process.execPath, helper, ...agents], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: WAIT_LIMIT_MS,
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(err);
  return JSON.parse(out);
}
