import { eq } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { projects, users } from "../../db/schema/index.ts";
import type { ConversationPage } from "../../src/contract/turn.ts";
import { caller } from "../../test/helpers/api.ts";
import { CHROMIUM, closeBrowser } from "../../test/helpers/browser.ts";
import { signedIn } from "../../test/helpers/cookie-browser.ts";
import { answerOf, outputOf, promptOf, storeLongConversation } from "../../test/helpers/long-conversation.ts";
import { insertSession } from "../../test/helpers/session-row.ts";
import { devtoolsOf, metrics, profile, scroll } from "./frames.ts";
import { median } from "./measure.ts";
import { startPostgres } from "./postgres.ts";
import type { Ratio } from "./report.ts";
import { type Server, startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "page";
/** The user of the bench's server. */
const EMAIL = "bench@example.com";
const TURNS = 2_000;
/** With two of 12,500 characters a turn, 50 MB. */
const SIZE = { tools: 2, output: 12_500 };
const ROUNDS = 7;
/** Pixels of a frame, from the end of the conversation. */
const UP = -60;
/** Turns of the plain page: those of the first page that ours fetches. */
const PLAIN_TURNS = 25;
/** Ends a hang. */
const LIMIT_MS = 120_000;
/** The limits: milliseconds. */
const USABLE_MS = 1_000;
const FRAME_MS = 8;
const FIRST_BYTE_MS = 50;

/**
 * Measures the page of a session with a conversation of 2,000 turns and 50 MB of outputs in Chromium, and its stream. The
 * peer is a page with the text of the newest turns alone, in one `<pre>`: Chromium does not load the whole text in 2 minutes.
 */
export async function page(bench: Workbench): Promise<void> {
  if (!CHROMIUM[1]) return bench.report.skip(WHAT, "Chromium is not installed");
  const postgres = await startPostgres(bench);
  if ("missing" in postgres) return bench.report.skip(WHAT, postgres.missing);
  const databaseUrl = await postgres.createDatabase();
  const turns = bench.amount(TURNS, 60);
  const dataDir = bench.folder("data");
  const server = await startServer(bench, { dataDir, env: { DATABASE_URL: databaseUrl } });
  const project = await server.project();
  const session = await insertStopped(databaseUrl, project.id, turns);
  const plain = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(plainPage(turns), { headers: { "Content-Type": "text/html; charset=utf-8" } }),
  });
  const { cookie } = await signedIn({ dataDir, call: caller(server.url, server.token) }, EMAIL);
  const last = `Answer ${turns} is done.`;
  const ours = await measure(bench, `${server.url}/projects/${project.id}/sessions/${session}`, last, cookie);
  const peer = await measure(bench, plain.url.href, "", null);
  const rows: [string, Ratio["unit"], number, number, number | null][] = [
    ["usable", "ms", ours.usableMs, peer.usableMs, USABLE_MS],
    ["processor time of a frame while scrolling", "ms", ours.frameMs, peer.frameMs, FRAME_MS],
    ["memory of the page's scripts", "MB", ours.heapMb, peer.heapMb, null],
    ["elements and texts in the document", "nodes", ours.nodes, peer.nodes, null],
  ];
  for (const [what, unit, mine, theirs, most] of rows)
    bench.report.ratio({
      ...{ what: `${WHAT}: ${what}`, unit, ours: mine },
      peer: ["plain page", theirs],
      ...(most !== null && { bar: { atMost: Number((most / theirs).toFixed(3)) } }),
    });
  const [first, health] = await firstBytes(bench, server, `${project.path}/sessions/${session}`);
  bench.report.ratio({
    ...{ what: `${WHAT}: first byte of the stream`, unit: "ms", ours: first },
    peer: ["GET /v1/health", health],
    bar: { atMost: Number((FIRST_BYTE_MS / health).toFixed(1)) },
  });
  await closeBrowser();
  await plain.stop(true);
  await server.stop();
}

/** Inserts a stopped session with a long conversation. @returns its id */
async function insertStopped(databaseUrl: string, projectId: string, turns: number): Promise<string> {
  const { db, close } = await openPostgres(databaseUrl);
  const [project] = await db.select().from(projects).where(eq(projects.projectId, projectId));
  const [user] = await db.select().from(users).where(eq(users.email, EMAIL));
  if (!project || !user) throw new Error("the project, or its user, is not there");
  const sessionId = crypto.randomUUID();
  const { accountId } = project;
  await insertSession(db, { sessionId, projectId, accountId, createdBy: user.userId, status: "stopped" });
  await storeLongConversation(db, sessionId, { turns, ...SIZE });
  await close();
  return sessionId;
}

function plainPage(turns: number): string {
  const texts = Array.from({ length: Math.min(turns, PLAIN_TURNS) }, (_, at) => {
    const turn = turns - PLAIN_TURNS + at + 1;
    const outputs = Array.from({ length: SIZE.tools }, (_, tool) => outputOf(turn, tool, SIZE.output));
    return [promptOf(turn), ...outputs, answerOf(turn)].join("\n\n");
  });
  const scroll = "<script>scrollTo(0, document.documentElement.scrollHeight)</script>";
  return `<!doctype html><pre>${texts.join("\n\n")}</pre>${scroll}`;
}

interface Measured {
  usableMs: number;
  frameMs: number;
  heapMb: number;
  nodes: number;
}

/** Opens a page several times, and scrolls the last one up. @param last the text at its end; empty: it is usable when it is loaded */
async function measure(
  bench: Workbench,
  url: string,
  last: string,
  cookie: string | null,
): Promise<Measured> {
  const context = await profile(url, cookie);
  const opened = await context.newPage();
  const times: number[] = [];
  // the first round fills the browser's cache
  for (let round = 0; round <= bench.amount(ROUNDS, 1); round++) {
    await opened.goto("about:blank");
    const begun = performance.now();
    await opened.goto(url, { waitUntil: last === "" ? "load" : "commit", timeout: LIMIT_MS });
    if (last !== "") await opened.getByText(last).waitFor({ timeout: LIMIT_MS });
    await opened.evaluate(() => new Promise(requestAnimationFrame));
    if (round > 0) times.push(performance.now() - begun);
  }
  const devtools = await devtoolsOf(opened);
  const frameMs = await scroll(bench, opened, devtools, UP);
  await devtools.send("HeapProfiler.collectGarbage");
  const { JSHeapUsedSize = 0, Nodes = 0 } = await metrics(devtools);
  await context.close();
  return { usableMs: median(times), frameMs, heapMb: JSHeapUsedSize / 1e6, nodes: Nodes };
}

/** When the stream that continues after the newest page sends something; and the answer to the cheapest request. */
async function firstBytes(bench: Workbench, server: Server, path: string): Promise<[number, number]> {
  const { event_id } = await server.call<ConversationPage>("GET", `${path}/conversation?limit=1`);
  const timed = async (url: string, headers: Record<string, string>) => {
    const begun = performance.now();
    const stop = new AbortController();
    const answer = await fetch(url, { headers, signal: stop.signal });
    await answer.body?.getReader().read();
    const ms = performance.now() - begun;
    stop.abort();
    return ms;
  };
  const [ours, peer]: [number[], number[]] = [[], []];
  for (let round = 0; round < bench.amount(ROUNDS * 3, 2); round++) {
    const headers = { Authorization: `Bearer ${server.token}`, "Last-Event-ID": event_id };
    ours.push(await timed(`${server.url}${path}/conversation/events?brief=true`, headers));
    peer.push(await timed(`${server.url}/v1/health`, {}));
  }
  return [median(ours), median(peer)];
}
