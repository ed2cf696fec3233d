/**
 * Stands in for the three programs of a sandbox, by the name it is started under. As `svc-agent` it answers
 * `/svc/health` and does what the tests ask for in `POST /do`; as `svc-entrypoint` it starts the svc-agent beside it
 * and passes signals and exit codes on; as `svc` it only says its name.
 */
import { constants } from "node:os";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { openRelay } from "../../src/splice/relay.ts";
import { rawRequest, sendRaw } from "./raw-http.ts";
import type { SandboxCommand } from "./sandbox-bench.ts";
import { tryWaysOut } from "./ways-out.ts";

const programs: Record<string, () => void> = { "svc-agent": agent, "svc-entrypoint": entrypoint };
(programs[basename(process.execPath)] ?? (() => console.log("svc of the tests")))();

function agent(): void {
  let obeysSigterm = true;
  const host = process.env["SVC_SERVICE_HOST"] ?? "0.0.0.0";
  const port = Number(process.env["SVC_SERVICE_PORT"] ?? "8000");
  process.on("SIGTERM", async () => {
    if (!obeysSigterm) return;
    console.log("asked to end");
    await visit(`${process.env["SVC_API_URL"]}/asked-to-end/${process.env["SVC_SESSION_ID"]}`);
    process.exit(0);
  });
  const socket = process.env["SVC_SERVICE_SOCKET"];
  for (const [from, path] of Object.entries(JSON.parse(process.env["SVC_RELAYS"] ?? "{}")))
    openRelay({ host: "127.0.0.1", port: Number(from) }, () => ({ path: String(path) }), 512);
  const common = {
    async fetch(request: Request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/svc/health")
        return Response.json({ daemon: "ok", branch: process.env["SVC_BRANCH_NAME"] });
      if (pathname !== "/do") return new Response("not found", { status: 404 });
      const command: SandboxCommand = await request.json();
      if (command.do === "ignore SIGTERM") obeysSigterm = false;
      try {
        return Response.json(await carryOut(command));
      } catch (error) {
        return Response.json({ error: String(error) }, { status: 500 });
      }
    },
  };
  Bun.serve({ hostname: host, port, idleTimeout: 60, ...common });
  if (socket !== undefined) Bun.serve({ unix: socket, ...common });
  console.log(`listening on ${host}:${port}`);
}

async function carryOut(command: SandboxCommand): Promise<unknown> {
  switch (command.do) {
    case "environment":
      return process.env;
    case "visit":
      return visit(command.url, command.proxy);
    case "listen":
      Bun.serve({ hostname: "127.0.0.1", port: command.port, fetch: () => new Response(command.answer) });
      return null;
    case "connect":
      return connect(command.host, command.port);
    case "try the ways out":
      return tryWaysOut(command.ways);
    case "run":
      return run(command.command);
    case "spawn":
      // of its own session, as an agent's tools start theirs
      return Bun.spawn(command.command, {
        ...asAgent(),
        stdio: ["ignore", "ignore", "ignore"],
        detached: true,
      }).pid;
    case "print":
      process.stdout.write(Buffer.from(command.base64, "base64"));
      return null;
    case "exit":
      setTimeout(() => process.exit(command.code), 20);
      return null;
    case "die":
      setTimeout(() => process.kill(process.pid, command.signal), 20);
      return null;
    case "eat memory":
      setTimeout(eatMemory, 20);
      return null;
    case "ignore SIGTERM":
      return null;
  }
}

/** Like the daemon, if it is configured so: the agent's processes run as another user. */
function asAgent(): { uid: number; gid: number } | Record<never, never> {
  const [uid, gid] = (process.env["SVC_RUNTIME_USER"] ?? "").split(":").map(Number);
  return uid && gid ? { uid, gid } : {};
}

function eatMemory(): never {
  for (const eaten: Uint8Array[] = []; ; ) eaten.push(new Uint8Array(16 * 1024 ** 2).fill(1));
}

async function visit(url: string, proxy?: string): Promise<string> {
  try {
    if (proxy !== undefined) return (await sendRaw(proxy, rawRequest(url, ["Host: x"]))).text;
    const answer = await fetch(url, { signal: AbortSignal.timeout(3_000), keepalive: false });
    return `${answer.status} ${await answer.text()}`;
  } catch (error) {
    return String(error);
  }
}

async function connect(hostname: string, port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const late = setTimeout(() => resolve("no answer"), 2_000);
  Bun.connect({
    hostname,
    port,
    socket: { open: () => resolve("connected"), data: () => {}, connectError: () => resolve("refused") },
  }).then(
    (socket) => socket.end(),
    () => resolve("refused"),
  );
  return promise.finally(() => clearTimeout(late));
}

async function run(command: string[]): Promise<{ code: number; out: string; err: string }> {
  const child = Bun.spawn(command, {
    ...asAgent(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 10_000,
  });
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), child.exited]);
  return { code, out, err };
}

function entrypoint(): void {
  const child = Bun.spawn([join(dirname(process.execPath), "svc-agent")], {
    stdio: ["ignore", "inherit", "inherit"],
    onExit: (_, code, signal) => process.exit(code ?? 128 + numberOf(signal)),
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => child.kill(signal));
}

function numberOf(signal: NodeJS.Signals | number | null): number {
  return typeof signal === "string" ? constants.signals[signal] : (signal ?? 0);
}
