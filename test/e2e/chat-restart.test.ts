import { expect } from "bun:test";
import { cliEnv, makeHome, SVC, textOf } from "../helpers/cli-run.ts";
import { startModel } from "../helpers/model.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { MODEL, RUNTIME, RUNTIME_NAME, runtimeEnvironment } from "../helpers/runtime.ts";
import { startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

const test = needs(RUNTIME === null ? RUNTIME_NAME : "a real Postgres", RUNTIME !== null && POSTGRES);
const WORDS = Array.from({ length: 40 }, (_, index) => `word${index}`);

test("a server that is killed and started again in the middle of an answer is not noticed in what was said", async () => {
  await using model = await startModel();
  // the same port again: clients know the server by it
  const SVC_PORT = String(freePort());
  const server = await startSessionServer({ ...runtimeEnvironment(model), SVC_PORT });
  try {
    const { session_id: id, project_id } = await server.create({ model: MODEL });
    await server.becomes(id, "running");
    const home = makeHome();
    const chat = Bun.spawn([...SVC, "sessions", "chat", id, "--prompt", `!slow 250 ${WORDS.join(" ")}`], {
      cwd: home.cwd,
      env: cliEnv(home.home, {
        SVC_API_URL: `${server.url()}/v1`,
        SVC_CLI_TOKEN: server.token,
        SVC_PROJECT_ID: project_id,
      }),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: 60_000,
    });
    const said = Promise.all([textOf(chat.stdout), textOf(chat.stderr)]);
    await until("the model speaks", () => model.asked.some(({ body }) => Array.isArray(body.tools)), 30_000);
    await Bun.sleep(1000);
    await server.kill();
    await server.start();
    const [stdout, stderr] = await said;
    expect([await chat.exited, stderr]).toEqual([0, expect.any(String)]);
    expect(stdout.trim().split(/\s+/)).toEqual(WORDS);
  } finally {
    await server.stop();
  }
}, 120_000);

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}
