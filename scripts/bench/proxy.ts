import { connect, type Socket } from "node:net";
import { run } from "../run.ts";
import { alternate, interleave, median, timed } from "./measure.ts";
import { residentMegabytes } from "./memory.ts";
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
/** A socket that takes longer to answer is lost. */
const ANSWER_MS = 60_000;

/** svc-agent beside nginx with one worker, and svc-api with svc-agent behind it beside two nginx in a row. */
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
  await hold(bench, ends.api, ends.server.pid);
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
  bench.report.figure({ what, unit: "ms", ours: times.ours, bar: { atMost: 5 } });
  bench.report.figure({ what: `${what}, ${name}`, unit: "ms", ours: times.peer });
}

/** Streams and sockets that say nothing for a minute are all there afterwards, and answer. */
async function hold(bench: Workbench, end: End, pid: number): Promise<void> {
  const what = `svc-api and svc-agent: ${STREAMS} quiet WebSockets and ${STREAMS} quiet streams`;
  const before = residentMegabytes(pid);
  const each = { length: bench.amount(STREAMS, 10) };
  let broken = 0;
  const streams = await Promise.all(
    Array.from(each, async () => {
      const stream = await openStream(end);
      stream.on("close", () => broken++);
      return stream;
    }),
  );
  const sockets = await Promise.all(Array.from(each, () => openSocket(end)));
  await Bun.sleep(bench.amount(HOLD_MS, 0));
  const held = residentMegabytes(pid) - before;
  const answered = await timed(async () => {
    const answers = await Promise.all(sockets.map(echo));
    broken += answers.filter((isThere) => !isThere).length;
  });
  const lost = broken;
  for (const stream of streams) stream.destroy();
  for (const socket of sockets) socket.close();
  if (lost > 0) throw new Error(`${what}: ${lost} of ${streams.length + sockets.length} were lost`);
  bench.report.figure({ what: `${what}, memory of svc-api`, unit: "MB", ours: held, bar: { atMost: 100 } });
  bench.report.figure({ what: "all of the WebSockets answer after a minute", unit: "ms", ours: answered });
}

/** Not by `fetch`, which makes 256 requests at once and no more. */
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
  // Bun's takes headers; the type is the browsers'
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
