import { field, parseJson, textField } from "../../src/contract/json.ts";
import { readEvents } from "../../src/contract/sse.ts";
import { followedSession, hostRuntimes, type RuntimeHost } from "../../test/helpers/runtime-host.ts";
import { type SessionBench, startSessions } from "../../test/helpers/sessions.ts";
import { median } from "./measure.ts";
import { startPostgres } from "./postgres.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "talking";
const SESSIONS = 200;
/** Sessions that start at a time, and that are watched. */
const AT_ONCE = 10;
const WATCHED = 10;
const WORD_MS = 500;
const SECONDS = 12;
/** Milliseconds that a word in the stream may take more than the runtime's event. */
const MORE_MS = 5;
const [MESSAGE, PART] = ["msg_1a", "prt_1a"];

/**
 * Compares when the words of agents that all talk at once are in the streams of their stored conversations with when they
 * are in those of their runtimes. The server and its sandboxes, which stand in, are in this process.
 */
export async function talking(bench: Workbench): Promise<void> {
  const postgres = await startPostgres(bench);
  if ("missing" in postgres) return bench.report.skip(WHAT, postgres.missing);
  const sessions = await startSessions({
    env: { DATABASE_URL: await postgres.createDatabase(), SVC_SESSION_CAP: "1000", SVC_IDLE_TIMEOUT: "3600" },
  });
  const runtimeOf = hostRuntimes(sessions.provider);
  const talks: { id: string; runtime: RuntimeHost }[] = [];
  const count = bench.amount(SESSIONS, 2);
  while (talks.length < count) {
    const next = Array.from({ length: Math.min(AT_ONCE, count - talks.length) });
    talks.push(...(await Promise.all(next.map(() => followedSession(sessions, runtimeOf)))));
  }
  for (const { runtime } of talks) begin(runtime);
  const times = { stored: [] as number[], runtime: [] as number[] };
  const ended = new AbortController();
  const said = new Map<string, number>();
  const note = (of: number[], id: string) => (word: string) => {
    const at = said.get(`${id} ${word}`);
    if (at !== undefined) of.push(performance.now() - at);
  };
  for (const { id } of talks.slice(0, WATCHED)) {
    const watched = await streamsOf(sessions, id, ended.signal);
    void readWords(watched.stored, note(times.stored, id));
    void readWords(watched.runtime, note(times.runtime, id));
  }
  const end = performance.now() + bench.amount(SECONDS, 2) * 1_000;
  for (let word = 0; performance.now() < end; word++)
    for (const { id, runtime } of talks) {
      said.set(`${id} w${word}`, performance.now());
      runtime.delta(MESSAGE, PART, `w${word} `);
      await Bun.sleep(WORD_MS / talks.length);
    }
  await Bun.sleep(1_000);
  ended.abort();
  const peer = median(times.runtime);
  bench.report.ratio({
    what: `${WHAT}: a word in the stored conversation's stream, of ${count} sessions`,
    unit: "ms",
    ours: median(times.stored),
    peer: ["runtime's event", peer],
    bar: { atMost: Number(((peer + MORE_MS) / peer).toFixed(3)) },
  });
  await sessions.stop();
}

/** An agent's turn, up to the beginning of its answer. */
function begin(runtime: RuntimeHost): void {
  runtime.hasTextsUnderWay = false;
  runtime.setBusy(true);
  runtime.message({ id: "msg_1", role: "user" });
  runtime.part("msg_1", { id: "prt_1", type: "text", text: "Speak" });
  runtime.message({ id: MESSAGE, role: "assistant", parentID: "msg_1" });
  runtime.part(MESSAGE, { id: PART, type: "text", text: "" });
}

/** The streams of a session's stored conversation, and of its runtime. */
async function streamsOf({ api, projectId, provider }: SessionBench, id: string, signal: AbortSignal) {
  const headers = { Authorization: `Bearer ${api.token}` };
  const path = `/v1/projects/${projectId}/sessions/${id}/conversation/events`;
  const stored = await fetch(api.url + path, { headers, signal });
  const address = provider.sandboxes.get(id)?.sandbox.address;
  const runtime = await fetch(`http://${address?.hostname}:${address?.port}/event`, { signal });
  if (!stored.body || !runtime.body) throw new Error(`session ${id} has no stream`);
  return { stored: stored.body, runtime: runtime.body };
}

/** Reads a stream until it is ended, and reports each word. */
async function readWords(stream: AsyncIterable<Uint8Array>, onWord: (word: string) => void): Promise<void> {
  try {
    for await (const { data } of readEvents(stream)) {
      const event = parseJson(data);
      const text = textField(event, "text") || textField(field(event, "properties"), "delta");
      for (const word of text.split(" ")) onWord(word);
    }
  } catch {
    // it was ended
  }
}
