import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentServerNeeds, agentSettings, linkAgents } from "../helpers/agent-server.ts";
import { type AgentUpstream, type Script, startAgentUpstream } from "../helpers/agent-upstream.ts";
import { SANDBOXES } from "../helpers/isolation.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { killAll } from "../helpers/processes.ts";
import { generator, pick, SEED, share } from "../helpers/random.ts";
import { AGENT, RUNTIME } from "../helpers/runtime.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

// local sandboxes run dist/svc-agent
const [name, present] = agentServerNeeds(SANDBOXES);
const wanted = [[name, present] as const, AGENT, ["a real Postgres", POSTGRES] as const];
const lacking = wanted.find(([, isHere]) => !isHere);
const test = needs(lacking?.[0] ?? "", lacking === undefined);

/** Results of tools that the model has seen when something is killed. */
const POINTS = Array.from({ length: 12 }, (_, at) => at + 1);
const commandAfter = (results: number) => `echo ran-$((${results} + 1))`;
const QUESTION = "What did you do before?";

/** The request of the model that is kept waiting, by its number of results. */
let heldAt = 0;
let isHeld = false;
let release = () => {};

async function script(results: number, body: string): Promise<ReturnType<Script>> {
  if (body.includes(QUESTION)) return { text: "I ran commands." };
  if (results === heldAt && body.includes("Run the commands.")) {
    isHeld = true;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  }
  return results < POINTS.length ? { command: commandAfter(results) } : { text: "All have run." };
}

let server: SessionServer;
let upstream: AgentUpstream;
let folder: string;
beforeAll(async () => {
  if (lacking) return;
  folder = mkdtempSync(join(tmpdir(), "svc-kills-"));
  upstream = startAgentUpstream(script);
  server = await startSessionServer({
    ...agentSettings(folder, upstream),
    SVC_RUNTIME_BIN: RUNTIME ?? "",
  });
  linkAgents(server.dataDir);
});
afterAll(async () => {
  if (lacking) return;
  release();
  await server.stop();
  upstream[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const conversation = async (id: string) => (await server.call("GET", `/${id}/conversation`)).body.turns ?? [];
const outputs = (parts: { kind: string; state: string; tool: { output: string } }[]) =>
  parts.flatMap(({ kind, state, tool }) =>
    kind === "tool" && state === "done" ? (/ran-\d+/.exec(tool.output)?.[0] ?? "") : [],
  );
const ran = (count: number) => POINTS.slice(0, count).map((each) => `ran-${each}`);

const RUNTIMES = ["opencode", "claude-code", "codex", "opencode-acp"];
const KILLS: Record<string, (id: string) => Promise<void>> = {
  async "the server"() {
    await server.kill();
    await server.start();
  },
  async "the daemon"(id) {
    killAll(server.processes(id).filter(({ command }) => command.endsWith("svc-agent")));
  },
  async "the sandbox"(id) {
    killAll(server.processes(id));
  },
};
const ROWS = RUNTIMES.flatMap((runtime) => POINTS.map((at) => [runtime, at] as const));
const random = generator(SEED);
/** The server's, and one of the others, which are alike for the server: each with an agent and a point that the seed draws. */
const [OF_THE_SERVER = "", ...OTHERS] = Object.keys(KILLS);
const CASES = [OF_THE_SERVER, ...pick(share(1, OTHERS.length), OTHERS, random)].flatMap((killed) =>
  pick(share(1, ROWS.length), ROWS, random).map((row) => [killed, ...row] as const),
);

test.each(CASES)(
  "%s is killed under %s after %d tools: nothing is lost or twice",
  async (killed, runtime, at) => {
    heldAt = at;
    isHeld = false;
    const { session_id: id } = await server.create({ runtime, initial_prompt: "Run the commands." });
    await until("the model is kept waiting", async () => {
      const session = await server.get(id);
      if (session?.status === "failed") throw new Error(session.error ?? "");
      return isHeld;
    });
    await until(
      "what has run is shown",
      async () => outputs((await conversation(id))[0]?.parts ?? []).length === at,
    );
    heldAt = 0;
    await KILLS[killed]?.(id);
    release();
    if (killed === "the server") {
      await until("the turn is over", async () => (await conversation(id))[0]?.state !== "working");
      const [turn, ...others] = await conversation(id);
      expect([turn.state, turn.error, outputs(turn.parts), others]).toEqual([
        "done",
        null,
        ran(POINTS.length),
        [],
      ]);
      expect(turn.parts.at(-1)).toMatchObject({ kind: "text", text: "All have run." });
    } else {
      await server.becomes(id, "failed");
      const [turn, ...others] = await conversation(id);
      expect([turn.state, outputs(turn.parts), others]).toEqual(["interrupted", ran(at), []]);
      await server.call("POST", `/${id}/restart`, { restore: true });
      await server.becomes(id, "running");
      upstream.bodies.length = 0;
      await server.call("POST", `/${id}/prompt`, { text: QUESTION });
      const asked = () =>
        upstream.bodies
          .map((body) => JSON.stringify(body))
          // a request for a title has no tools
          .find((body) => body.includes(QUESTION) && /"tools":\[\{/.test(body));
      await until("the model is asked", () => asked() !== undefined);
      const commands = POINTS.slice(0, at).map((_, index) => commandAfter(index));
      for (const each of ["Run the commands.", ...commands, ...ran(at).map((output) => `  > ${output}`)])
        expect(asked()).toContain(each);
      // the daemon's note, that the agent was told a summary, is before it
      await until("it has answered", async () => (await conversation(id))[2]?.state === "done");
      expect((await conversation(id))[1].parts[0].text).toContain("was told a summary");
      expect(outputs((await conversation(id))[0].parts)).toEqual(ran(at));
    }
    await server.call("DELETE", `/${id}`);
  },
);
