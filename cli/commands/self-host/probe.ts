import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { totalmem } from "node:os";
import { dirname } from "node:path";
import { systemCode } from "../../failure.ts";
import type { System } from "../../system.ts";
import { caddyPorts, hasCaddy, TLS_SETTING } from "./caddy-file.ts";
import { findCompose } from "./compose.ts";
import { findEngine, socketOf } from "./engine.ts";
import type { Env } from "./env-file.ts";
import type { PortProblem, Probes } from "./preflight.ts";
import { DEFAULT_HOST, DEFAULT_PORT } from "./settings.ts";
import type { Stack } from "./stack.ts";
import type { State } from "./state.ts";

const PORT_ATTEMPTS = 20;
const PORT_DELAY_MS = 200;

/** Looks at this machine before a start, without changing anything. */
export async function probe(
  system: Pick<System, "env" | "stderr">,
  stack: Stack,
  mode: State["mode"],
  env: Env,
): Promise<Probes> {
  const isCompose = mode === "compose";
  const engine = isCompose ? await findEngine(system) : ({ state: "missing" } as const);
  const address = env.get("SVC_HOST") || DEFAULT_HOST;
  const wanted = [
    { setting: "SVC_PORT", address, port: Number(env.get("SVC_PORT") || DEFAULT_PORT) },
    ...(isCompose && hasCaddy(env)
      ? caddyPorts(env).map((port) => ({ setting: TLS_SETTING, address: "0.0.0.0", port }))
      : []),
  ];
  const folder = engine.state === "ready" && existsSync(engine.folder) ? engine.folder : stack.dir;
  return {
    mode,
    platform: process.platform,
    isNew: !existsSync(stack.composeFile),
    engine,
    compose: isCompose ? await findCompose(system) : null,
    hasSandboxes: hasProgram(system, "bwrap") || existsSync(dockerSocket(system)),
    hasGit: hasProgram(system, "git"),
    ports: await Promise.all(
      wanted.map(async (each) => ({ ...each, problem: await settledPort(each.address, each.port) })),
    ),
    disk: await freeBytes(folder),
    memory: totalmem(),
  };
}

const hasProgram = ({ env }: Pick<System, "env">, name: string): boolean =>
  Bun.which(name, { PATH: env["PATH"] ?? "" }) !== null;

const dockerSocket = ({ env }: Pick<System, "env">): string =>
  socketOf(env["DOCKER_HOST"] ?? "") ?? "/var/run/docker.sock";

/** A free port of loopback. */
export async function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.once("error", reject);
  server.listen(0, DEFAULT_HOST, () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
  });
  return promise;
}

/** Whether another program listens on the port. */
export const isPortTaken = async (address: string, port: number): Promise<boolean> =>
  (await settledPort(address, port)) === "in use";

/** The port of a server that has just ended may take a moment to be free. */
async function settledPort(address: string, port: number): Promise<PortProblem | null> {
  for (let attempt = 1; ; attempt++) {
    const problem = await tryPort(address, port);
    if (problem !== "in use" || attempt === PORT_ATTEMPTS) return problem;
    await Bun.sleep(PORT_DELAY_MS);
  }
}

async function tryPort(address: string, port: number): Promise<PortProblem | null> {
  const { promise, resolve } = Promise.withResolvers<PortProblem | null>();
  const server = createServer();
  server.once("error", (error) => {
    const code = systemCode(error);
    if (code === "EADDRINUSE") return resolve("in use");
    if (code === "EACCES") return resolve("not allowed");
    // any other reason is the server's to report
    resolve(code === "EADDRNOTAVAIL" ? "no such address" : null);
  });
  server.listen(port, address, () => server.close(() => resolve(null)));
  return promise;
}

/** Of the disk that the folder is on, or will be on. */
async function freeBytes(folder: string): Promise<number | null> {
  if (!existsSync(folder) && dirname(folder) !== folder) return freeBytes(dirname(folder));
  return statfs(folder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => null,
  );
}
