import { expect } from "bun:test";
import { rmSync } from "node:fs";
import net from "node:net";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { AGAINST_BINARIES, type Api, caller, makeFolder, spawnServer } from "./api.ts";
import { createDatabase } from "./postgres.ts";
import { residentMegabytes } from "./resident-memory.ts";
import { serverCommand } from "./server-command.ts";

/** A server in a process of its own, so that its memory is not the attacker's. */
export interface AttackedServer extends AsyncDisposable {
  url: string;
  token: string;
  dataDir: string;
  call: Api["call"];
  /**
   * Measures another client's `GET /v1/health`, idle and attacked.
   * @param attack ends by itself, or soon after its signal is aborted; the memory is watched to its end
   */
  under(attack: (stopped: AbortSignal) => Promise<unknown>): Promise<Served>;
}

export interface Served {
  /** Medians of the time that an answer took, in milliseconds. */
  idleMs: number;
  attackedMs: number;
  /** The maximum growth of the server's resident memory. */
  grownMegabytes: number;
}

const COMMAND = AGAINST_BINARIES ? ["dist/svc-api"] : serverCommand("api");
const ASKED = 60;
/** Other work on the machine, the attacker's own among it, may cost an answer this much; what an attack did was seconds. */
const NOISE_MS = 150;
const GROWN_MAX_MEGABYTES = 200;

export async function startAttacked(settings: Record<string, string> = {}): Promise<AttackedServer> {
  const database = await createDatabase();
  const dataDir = makeFolder();
  const env = {
    SVC_PORT: "0",
    SVC_DATA_DIR: dataDir,
    SVC_LOG_LEVEL: "silent",
    SVC_SANDBOX_PROVIDER: "local",
    DATABASE_URL: database.url,
    ...settings,
  };
  const { url, child, stop } = await spawnServer(COMMAND, env);
  const token = await sendAdminCommand(dataDir, { verb: "token", email: "first@example.com", name: "test" });
  if (token === null) throw new Error("the server's admin socket does not answer");
  return {
    url,
    token,
    dataDir,
    call: caller(url, token),
    async under(attack) {
      await medianHealth(url);
      const idleMs = await medianHealth(url);
      const before = residentMegabytes(child.pid);
      let peak = before;
      const watch = setInterval(() => {
        peak = Math.max(peak, residentMegabytes(child.pid));
      }, 20);
      const stopped = new AbortController();
      const attacking = attack(stopped.signal);
      attacking.catch(() => {});
      try {
        const attackedMs = await medianHealth(url);
        stopped.abort();
        await attacking;
        return { idleMs, attackedMs, grownMegabytes: peak - before };
      } finally {
        stopped.abort();
        clearInterval(watch);
      }
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
      await database.drop();
    },
  };
}

/** Expects that others are served as fast as before, except for noise, in constant memory. */
export function expectServed({ idleMs, attackedMs, grownMegabytes }: Served): void {
  expect(attackedMs).toBeLessThan(Math.max(3 * idleMs, NOISE_MS));
  expect(grownMegabytes).toBeLessThan(GROWN_MAX_MEGABYTES);
}

async function medianHealth(url: string): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < ASKED; count++) {
    const begun = performance.now();
    const answer = await fetch(`${url}/v1/health`);
    await answer.text();
    expect(answer.status).toBe(200);
    times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[ASKED / 2] ?? 0;
}

/** Bytes that one connection sends at most: what was found grew the server by more than these. */
const FLOOD_MAX_BYTES = 1024 * 1024 * 1024;

/**
 * Sends a head, and then bytes for as long as the other end takes them, on one connection.
 * @returns how many bytes were taken until the other end hung up
 */
export function flood(url: string, head: string): Promise<number> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<number>();
  const socket = net.connect(Number(port), hostname);
  const taken = () => socket.bytesWritten - socket.writableLength;
  const more = () => {
    while (!socket.destroyed && socket.write(PIECE));
    if (taken() > FLOOD_MAX_BYTES) socket.destroy();
  };
  socket.on("connect", () => {
    socket.write(head, "latin1");
    more();
  });
  socket.on("drain", more);
  socket.on("error", () => {});
  socket.resume();
  socket.on("close", () => resolve(taken()));
  return promise;
}

const PIECE = Buffer.alloc(64 * 1024);
