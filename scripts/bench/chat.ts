import { existsSync } from "node:fs";
import { join } from "node:path";
import { startModel } from "../../test/helpers/model.ts";
import { MODEL, RUNTIME, runtimeEnvironment } from "../../test/helpers/runtime.ts";
import { until } from "../../test/helpers/until.ts";
import { DIST } from "../binaries.ts";
import { inNetworkOf, runtimeOf } from "./in-sandbox.ts";
import { median } from "./measure.ts";
import { makeNoiseRepository } from "./noise.ts";
import { start } from "./programs.ts";
import { cleanEnvironment, type Server, startServer } from "./server.ts";
import { endSession, startSession } from "./session.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "chat";
const ROUNDS = 15;
/** Words of an answer, and the pause after each. */
const WORDS = 20;
const PAUSE_MS = 40;
const BEHIND_MS = 20;
const LIMIT_MS = 60_000;

/**
 * How far the words of an answer come out of `svc sessions chat` behind the runtime's own events, read at its port
 * without svc in between; the runtime is the real one, the model scripted.
 */
export async function chat(bench: Workbench): Promise<void> {
  if (process.platform !== "linux") return bench.report.skip(WHAT, "the local provider is measured on Linux");
  if (RUNTIME === null) return bench.report.skip(WHAT, "opencode is not installed");
  await using model = await startModel();
  const { SVC_OPENCODE_MODEL, ...env } = runtimeEnvironment(model);
  const repository = await makeNoiseRepository(bench, "chat", { files: 20, fileBytes: 2_000 });
  const server = await startServer(bench, { env: { ...env, SVC_SANDBOX_PROVIDER: "local" } });
  const project = await server.project(repository);
  const place = `${project.path}/sessions`;
  const session = await startSession(server, place, { model: MODEL });
  const events = await listenAtPort(bench, session);
  const first: number[] = [];
  const all: number[] = [];
  // the first fills caches
  const warmUp = bench.amount(1, 0);
  for (let round = 0; round < warmUp + bench.amount(ROUNDS); round++) {
    const words = Array.from({ length: bench.amount(WORDS, 2) }, (_, n) => `w${round}x${n}.`);
    const shown = await ask(bench, server, project.id, session, words);
    const behind = words.map((word) => {
      const [out, told] = [shown.get(word), events.told.get(word)];
      if (out === undefined || told === undefined) throw new Error(`${word} was not heard`);
      return out - told;
    });
    if (round < warmUp) continue;
    first.push(behind[0] ?? Number.NaN);
    all.push(...behind);
  }
  events.stop();
  const bar = { atMost: BEHIND_MS };
  const unit = "ms";
  bench.report.figure({
    what: `${WHAT}: first word behind the runtime's own event`,
    unit,
    ours: median(first),
    bar,
  });
  bench.report.figure({
    what: `${WHAT}: each word behind the runtime's own event`,
    unit,
    ours: median(all),
    bar,
  });
  await endSession(server, place, session);
  await server.stop();
}

/** When each word came out of svc, in milliseconds of this process's clock. */
async function ask(
  bench: Workbench,
  server: Server,
  project: string,
  session: string,
  words: readonly string[],
): Promise<Map<string, number>> {
  const prompt = `!slow ${PAUSE_MS} ${words.join(" ")}`;
  const child = Bun.spawn([join(DIST, "svc"), "sessions", "chat", session, "--prompt", prompt], {
    env: {
      ...cleanEnvironment(),
      HOME: bench.folder("home"),
      SVC_API_URL: `${server.url}/v1`,
      SVC_CLI_TOKEN: server.token,
      SVC_PROJECT_ID: project,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: LIMIT_MS,
  });
  const shown = new Map<string, number>();
  let text = "";
  for await (const chunk of child.stdout) {
    text += Buffer.from(chunk).toString();
    note(shown, words, text);
  }
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
  return shown;
}

function note(times: Map<string, number>, words: readonly string[], text: string): void {
  for (const word of words) if (!times.has(word) && text.includes(word)) times.set(word, performance.now());
}

/** The runtime's events at its own port, let in by the password that the daemon gave it. */
async function listenAtPort(
  bench: Workbench,
  session: string,
): Promise<{ told: Map<string, number>; stop(): void }> {
  const runtime = runtimeOf(session);
  const port = /--port (\d+)/.exec(runtime.command)?.[1];
  const name = "OPENCODE_SERVER_PASSWORD=";
  const password = runtime.environment.find((each) => each.startsWith(name))?.slice(name.length);
  if (!port || !password) throw new Error("the agent runtime is not found");
  const folder = bench.folder("passage");
  const unix = join(folder, "s");
  const passage = [process.execPath, join(import.meta.dir, "passage.ts"), unix, port];
  start(bench, folder, [...inNetworkOf(session), ...passage]);
  await until("the way to the runtime is open", () => existsSync(unix));
  const stop = new AbortController();
  const answer = await fetch("http://localhost/event", {
    unix,
    headers: { Authorization: `Basic ${Buffer.from(`opencode:${password}`).toString("base64")}` },
    signal: stop.signal,
  });
  if (!answer.ok || !answer.body) throw new Error(`the agent runtime answers ${answer.status}`);
  const told = new Map<string, number>();
  const read = async (body: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      const now = performance.now();
      for (const [, word = ""] of decoder.decode(chunk).matchAll(/"delta":"(w\d+x\d+\.)/g))
        told.set(word, now);
    }
  };
  read(answer.body).catch(() => {});
  return { told, stop: () => stop.abort() };
}
