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
/** Number of words of an answer, and the delay after each. */
const WORDS = 20;
const PAUSE_MS = 40;
const BAR = { atMost: 1.1 };
/** Of a word in the stream of the stored conversation, after the runtime's event. */
const STREAM_MORE_MS = 5;
const LIMIT_MS = 60_000;

/**
 * Compares when `svc sessions chat` prints the words of an answer, and when the stream of the stored conversation has them,
 * with when the runtime sends their events, read at its port. Times are counted from the start of the command. The runtime is real, the model is scripted.
 */
export async function chat(bench: Workbench): Promise<void> {
  if (process.platform !== "linux") return bench.report.skip(WHAT, "the local provider needs Linux");
  if (RUNTIME === null) return bench.report.skip(WHAT, "opencode is not installed");
  await using model = await startModel();
  const { SVC_OPENCODE_MODEL, ...env } = runtimeEnvironment(model);
  const repository = await makeNoiseRepository(bench, "chat", { files: 20, fileBytes: 2_000 });
  const server = await startServer(bench, { env: { ...env, SVC_SANDBOX_PROVIDER: "local" } });
  const project = await server.project(repository);
  const place = `${project.path}/sessions`;
  const session = await startSession(server, place, { model: MODEL });
  const events = await listenAtPort(bench, session);
  const stream = await listenToConversation(server, `${place}/${session}`);
  const first = { ours: [] as number[], peer: [] as number[] };
  const all = { ours: [] as number[], peer: [] as number[] };
  const streamed: number[] = [];
  // the first round fills caches
  const warmUp = bench.amount(1, 0);
  for (let round = 0; round < warmUp + bench.amount(ROUNDS); round++) {
    const words = Array.from({ length: bench.amount(WORDS, 2) }, (_, n) => `w${round}x${n}.`);
    const begun = performance.now();
    const printed = await prompt(bench, server, project.id, session, words);
    if (round < warmUp) continue;
    // the command may end before this process has read them
    await until("the streams have all words", () =>
      words.every((word) => events.sent.has(word) && stream.sent.has(word)),
    );
    for (const [index, word] of words.entries()) {
      const [out, sent] = [printed.get(word), events.sent.get(word)];
      const passed = stream.sent.get(word);
      if (out === undefined || sent === undefined || passed === undefined)
        throw new Error(`no event or output for ${word}`);
      streamed.push(passed - begun);
      for (const times of index === 0 ? [first, all] : [all]) {
        times.ours.push(out - begun);
        times.peer.push(sent - begun);
      }
    }
  }
  events.stop();
  stream.stop();
  for (const [what, { ours, peer }] of Object.entries({ "first word": first, "all words": all })) {
    bench.report.ratio({
      what: `${WHAT}: ${what}`,
      unit: "ms",
      ours: median(ours),
      peer: ["runtime's event", median(peer)],
      bar: BAR,
    });
  }
  const peer = median(all.peer);
  bench.report.ratio({
    what: `${WHAT}: a word in the stored conversation's stream`,
    unit: "ms",
    ours: median(streamed),
    peer: ["runtime's event", peer],
    bar: { atMost: Number(((peer + STREAM_MORE_MS) / peer).toFixed(3)) },
  });
  await endSession(server, place, session);
  await server.stop();
}

/** Sends a prompt with svc. @returns when svc printed each word, on the clock of this process */
async function prompt(
  bench: Workbench,
  server: Server,
  project: string,
  session: string,
  words: readonly string[],
): Promise<Map<string, number>> {
  const text = `!slow ${PAUSE_MS} ${words.join(" ")}`;
  const child = Bun.spawn([join(DIST, "svc"), "sessions", "chat", session, "--prompt", text], {
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
  let out = "";
  for await (const chunk of child.stdout) {
    out += Buffer.from(chunk).toString();
    note(shown, words, out);
  }
  if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
  return shown;
}

function note(times: Map<string, number>, words: readonly string[], text: string): void {
  for (const word of words) if (!times.has(word) && text.includes(word)) times.set(word, performance.now());
}

/** Subscribes to the events of the runtime at its port, with the password that the daemon set. */
async function listenAtPort(
  bench: Workbench,
  session: string,
): Promise<{ sent: Map<string, number>; stop(): void }> {
  const runtime = runtimeOf(session);
  const port = /--port (\d+)/.exec(runtime.command)?.[1];
  const name = "OPENCODE_SERVER_PASSWORD=";
  const password = runtime.environment.find((each) => each.startsWith(name))?.slice(name.length);
  if (!port || !password) throw new Error("the agent runtime is not found");
  const folder = bench.folder("relay");
  const unix = join(folder, "s");
  const relay = [process.execPath, join(import.meta.dir, "relay.ts"), unix, port];
  start(bench, folder, [...inNetworkOf(session), ...relay]);
  await until("the runtime is reachable", () => existsSync(unix));
  const stop = new AbortController();
  const answer = await fetch("http://localhost/event", {
    unix,
    headers: { Authorization: `Basic ${Buffer.from(`opencode:${password}`).toString("base64")}` },
    signal: stop.signal,
  });
  if (!answer.ok || !answer.body) throw new Error(`the agent runtime answers ${answer.status}`);
  const sent = new Map<string, number>();
  const read = async (body: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      const now = performance.now();
      for (const [, word = ""] of decoder.decode(chunk).matchAll(/"delta":"(w\d+x\d+\.)/g))
        sent.set(word, now);
    }
  };
  read(answer.body).catch(() => {});
  return { sent, stop: () => stop.abort() };
}

/** Subscribes to the stream of the session's stored conversation. */
async function listenToConversation(
  server: Server,
  path: string,
): Promise<{ sent: Map<string, number>; stop(): void }> {
  const stop = new AbortController();
  const answer = await fetch(`${server.url}${path}/conversation/events`, {
    headers: { Authorization: `Bearer ${server.token}` },
    signal: stop.signal,
  });
  if (!answer.ok || !answer.body) throw new Error(`the conversation's stream answers ${answer.status}`);
  const sent = new Map<string, number>();
  const read = async (body: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      const now = performance.now();
      // the prompt has the words too
      for (const event of decoder
        .decode(chunk)
        .split("\n\n")
        .filter((each) => !each.includes("!slow")))
        for (const [word] of event.matchAll(/w\d+x\d+\./g)) if (!sent.has(word)) sent.set(word, now);
    }
  };
  read(answer.body).catch(() => {});
  return { sent, stop: () => stop.abort() };
}
