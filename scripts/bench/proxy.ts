import { connect, type Socket } from "node:net";
import { run } from "../run.ts";
import { alternate, interleave, median, timed } from "./measure.ts";
import { findProgram } from "./programs.ts";
import { type End, type Ends, openEnds } from "./proxy-ends.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "proxy";
const ROUNDS = 5;
const LARGE_ROUNDS = 3;
const FIRST_ROUNDS = 50;
const ROUND_S = 3;
const CONNECTIONS = 32;
const STREAMS = 1_000;
const HOLD_MS = 60_000;
/** A socket that takes longer to answer counts as lost. */
const ANSWER_MS = 60_000;

/** Compares svc-agent with nginx with one worker, and svc-api in front of svc-agent with two nginx in a row. */
export async function proxy(bench: Workbench): Promise<void> {
  const [nginx, wrk, curl] = ["nginx", "wrk", "curl"].map(findProgram);
  if (!nginx || !wrk || !curl) return bench.report.skip(WHAT, "nginx, wrk and curl are needed");
  const ends = await openEnds(bench, nginx);
  const pairs = [
    ["svc-agent", ends.daemon, "nginx", ends.nginx],
    ["svc-api and svc-agent", ends.api, "two nginx", ends.nginxTwice],
  ] as const;
  for (const [name, ours, other, peer] of pairs) {
    await small(bench, wrk, `${name}: small answers`, ours, other, peer);
    await large(bench, curl, name, ends, ours, other, peer);
    await firstByte(bench, `${name}: first event of a stream`, ours, other, peer);
  }
  await hold(bench, ends.api, ends.nginxTwice);
  await ends.close();
}

async function small(
  bench: Workbench,
  wrk: string,
  what: string,
  ours: End,
  name: string,
  peer: End,
): Promise<void> {
  const measure = async (end: End) => {
    const seconds = bench.amount(ROUND_S);
    const options = [
      "-t1",
      `-c${CONNECTIONS}`,
      `-d${seconds}s`,
      "--latency",
      "-H",
      end.header(`${end.url}/`),
    ];
    const { out } = await run([wrk, ...options, `${end.url}/`]);
    if (/Non-2xx|Socket errors/.test(out)) throw new Error(`${what}: ${out}`);
    const [, p99, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(out) ?? [];
    return {
      rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(out)?.[1]),
      p99: Number(p99) * (unit === "us" ? 0.001 : unit === "s" ? 1000 : 1),
    };
  };
  const seen = await alternate(bench, ROUNDS, { ours: () => measure(ours), peer: () => measure(peer) });
  const of = (side: "ours" | "peer", key: "rate" | "p99") => median(seen[side].map((round) => round[key]));
  bench.report.ratio({
    what,
    unit: "requests/s",
    ours: of("ours", "rate"),
    peer: [name, of("peer", "rate")],
    bar: { atLeast: 0.9 },
  });
  bench.report.ratio({
    what: `${what}, 99 of 100`,
    unit: "ms",
    ours: of("ours", "p99"),
    peer: [name, of("peer", "p99")],
    bar: { atMost: 1.5 },
  });
}

async function large(
  bench: Workbench,
  curl: string,
  what: string,
  { large, largeBytes }: Pick<Ends, "large" | "largeBytes">,
  ours: End,
  name: string,
  peer: End,
): Promise<void> {
  const pass =
    (end: End, method: string, url: string, ...args: string[]) =>
    async () => {
      const header = end.header(url, method);
      const { code, err } = await run([curl, "-sSf", "-o", "/dev/null", "-H", header, ...args, url]);
      if (code !== 0) throw new Error(err);
    };
  const down = (end: End) => pass(end, "GET", `${end.url}/large`);
  const up = (end: End) => pass(end, "PUT", `${end.url}/sink`, "-T", large);
  const times = await interleave(bench, LARGE_ROUNDS, () => [
    { ourDown: down(ours), ourUp: up(ours) },
    { down: down(peer), up: up(peer) },
  ]);
  const speed = (ms: number) => largeBytes / 1e6 / (ms / 1000);
  const bar = { atLeast: 0.8 };
  bench.report.ratio({
    what: `${what}: 1 GiB down`,
    unit: "MB/s",
    ours: speed(times.ourDown),
    peer: [name, speed(times.down)],
    bar,
  });
  bench.report.ratio({
    what: `${what}: 1 GiB up`,
    unit: "MB/s",
    ours: speed(times.ourUp),
    peer: [name, speed(times.up)],
    bar,
  });
}

async function firstByte(bench: Workbench, what: string, ours: End, name: string, peer: End): Promise<void> {
  const read = (end: End) => async () => {
    const stop = new AbortController();
    const answer = await fetch(`${end.url}/sse`, {
      headers: headersOf(end, `${end.url}/sse`),
      signal: stop.signal,
    });
    await answer.body?.getReader().read();
    stop.abort();
  };
  const times = await interleave(bench, FIRST_ROUNDS, () => [{ ours: read(ours) }, { peer: read(peer) }]);
  bench.report.ratio({ what, unit: "ms", ours: times.ours, peer: [name, times.peer], bar: { atMost: 2 } });
}

/** Holds idle streams and WebSockets for a minute, and compares how long all WebSockets take to answer afterwards. */
async function hold(bench: Workbench, ours: End, peer: End): Promise<void> {
  const [ourConnections, peerConnections] = [await openIdle(bench, ours), await openIdle(bench, peer)];
  await Bun.sleep(bench.amount(HOLD_MS, 0));
  const [ourTime, peerTime] = [await answerAll(ourConnections), await answerAll(peerConnections)];
  bench.report.ratio({
    what: `svc-api and svc-agent: ${STREAMS} idle WebSockets, all answer`,
    unit: "ms",
    ours: ourTime,
    peer: ["two nginx", peerTime],
  });
}

interface Idle {
  streams: Socket[];
  sockets: WebSocket[];
  /** The number of streams that were closed. */
  closed: { count: number };
}

async function openIdle(bench: Workbench, end: End): Promise<Idle> {
  const each = { length: bench.amount(STREAMS, 10) };
  const closed = { count: 0 };
  const streams = await Promise.all(
    Array.from(each, async () => {
      const stream = await openStream(end);
      stream.on("close", () => closed.count++);
      return stream;
    }),
  );
  return { streams, sockets: await Promise.all(Array.from(each, () => openSocket(end))), closed };
}

/** @returns milliseconds. @throws Error if a connection was lost */
async function answerAll({ streams, sockets, closed }: Idle): Promise<number> {
  let lost = closed.count;
  const time = await timed(async () => {
    const answers = await Promise.all(sockets.map(echo));
    lost += answers.filter((isThere) => !isThere).length;
  });
  for (const stream of streams) stream.destroy();
  for (const socket of sockets) socket.close();
  if (lost > 0) throw new Error(`${lost} of ${streams.length + sockets.length} connections were lost`);
  return time;
}

/** Uses a socket because `fetch` is limited to 256 concurrent requests. */
function openStream(end: End): Promise<Socket> {
  const { hostname, port, pathname } = new URL(end.url);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect(Number(port), hostname, () =>
    socket.write(`GET ${pathname}/sse HTTP/1.1\r\nHost: bench\r\n${end.header(`${end.url}/sse`)}\r\n\r\n`),
  );
  socket.once("data", () => resolve(socket));
  socket.once("error", reject);
  return promise;
}

function openSocket(end: End): Promise<WebSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
  // Bun's WebSocket accepts headers, but the type is that of browsers
  const url = `${end.url.replace("http", "ws")}/ws`;
  const socket: WebSocket = Reflect.construct(WebSocket, [url, { headers: headersOf(end, `${end.url}/ws`) }]);
  socket.addEventListener("open", () => resolve(socket));
  socket.addEventListener("error", () => reject(new Error(`no WebSocket at ${end.url}`)));
  return promise;
}

async function echo(socket: WebSocket): Promise<boolean> {
  if (socket.readyState !== WebSocket.OPEN) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.addEventListener("message", () => resolve(true), { once: true });
  socket.addEventListener("close", () => resolve(false), { once: true });
  const timer = setTimeout(() => resolve(false), ANSWER_MS);
  socket.send("there?");
  return await promise.finally(() => clearTimeout(timer));
}

function headersOf(end: End, url: string): Record<string, string> {
  const [name = "", value = ""] = end.header(url).split(": ");
  return { [name]: value };
}
