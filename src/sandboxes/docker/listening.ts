import type { Engine } from "./engine.ts";
import { textOf } from "./output.ts";

/** Sockets of a busy sandbox. */
const TABLE_MAX_BYTES = 256 * 1024;

/** The TCP ports on which programs listen in the network namespace of a container. */
export async function listeningPorts(engine: Engine, id: string): Promise<Set<number>> {
  const framed = await engine.call("read the ports of a sandbox", async (docker, abortSignal) => {
    const exec = await docker.getContainer(id).exec({
      Cmd: ["cat", "/proc/net/tcp", "/proc/net/tcp6"],
      AttachStdout: true,
      AttachStderr: true,
      abortSignal,
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of await exec.start({ abortSignal })) pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces);
  });
  return portsIn(textOf(framed, TABLE_MAX_BYTES));
}

/** The state of a listening socket: proc(5), /proc/net/tcp. */
const LISTEN = "0A";

/** The ports of listening sockets in tables of proc(5). */
export function portsIn(tables: string): Set<number> {
  const rows = tables.split("\n").map((line) => line.trim().split(/\s+/));
  return new Set(
    rows.flatMap(([, local = "", , state]) =>
      state === LISTEN ? [Number.parseInt(local.split(":")[1] ?? "", 16)] : [],
    ),
  );
}
