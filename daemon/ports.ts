import { readdir, readFile, readlink } from "node:fs/promises";
import type { ListeningPort } from "../src/contract/ports.ts";
import { PORTS_MAX } from "../src/contract/ports.ts";
import { listDescendants } from "./process/tree.ts";
import type { Settings } from "./settings.ts";

/** A listening socket of the network namespace, by the number of its inode. */
interface Listening {
  port: number;
  uid: number;
  inode: string;
}

/**
 * The ports on which programs of the agent and of people listen, as a preview reaches them: on 127.0.0.1 or all addresses.
 * Those of the daemon and of the agent runtime are left out. Empty on a system without /proc.
 */
export async function readPorts({
  user,
  runtimePort,
  sessionId,
}: Pick<Settings, "user" | "runtimePort" | "sessionId">): Promise<ListeningPort[]> {
  const sockets = (await listeningSockets()).filter(({ port }) => port !== runtimePort);
  // another user's processes cannot be read, so their sockets tell whose they are
  const found = user
    ? sockets.filter(({ uid }) => uid === user.uid).map(({ port }) => ({ port, process: null }))
    : await withProcesses(sockets, sessionId);
  const byPort = new Map(found.toSorted((a, b) => b.port - a.port).map((each) => [each.port, each]));
  return [...byPort.values()].reverse().slice(0, PORTS_MAX);
}

/** proc_net(5): address, state, owner and inode are fields of each line. */
async function listeningSockets(): Promise<Listening[]> {
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/self/net/${name}`, "latin1").catch(() => "")),
  );
  return tables
    .flatMap((table) => table.trim().split("\n").slice(1))
    .flatMap((line) => {
      const [, local = "", , state, , , , uid, , inode = ""] = line.trim().split(/\s+/);
      const [address = "", port = ""] = local.split(":");
      if (state !== LISTEN || !REACHED.has(address)) return [];
      return [{ port: Number.parseInt(port, 16), uid: Number(uid), inode }];
    });
}

const LISTEN = "0A";
/** 127.0.0.1, all of IPv4, all of both, and 127.0.0.1 as IPv6, in the kernel's order of bytes. */
const REACHED: ReadonlySet<string> = new Set([
  "0100007F",
  "00000000",
  "0".repeat(32),
  "0000000000000000FFFF00000100007F",
]);

/** Finds the processes of sockets. One that is no process of this sandbox, without walls, is not the sandbox's. */
async function withProcesses(sockets: readonly Listening[], sessionId: string): Promise<ListeningPort[]> {
  const byLink = new Map(sockets.map((socket) => [`socket:[${socket.inode}]`, socket]));
  const descendants = new Set(await listDescendants(process.pid));
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found: ListeningPort[] = [];
  for (const pid of pids) {
    if (byLink.size === 0) break;
    if (Number(pid) === process.pid) continue;
    const held = (await linksOf(pid)).filter((link) => byLink.has(link));
    if (held.length === 0 || !(descendants.has(Number(pid)) || (await isOfSession(pid, sessionId)))) continue;
    const name = (await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "")).trim();
    for (const link of held) {
      const port = byLink.get(link)?.port;
      if (port !== undefined) found.push({ port, process: name || null });
      byLink.delete(link);
    }
  }
  return found;
}

async function linksOf(pid: string): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  return await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => "")));
}

/** Whether a process that left the daemon's tree was started in this sandbox: environments are inherited. */
async function isOfSession(pid: string, sessionId: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return environment.split("\0").includes(`SVC_SESSION_ID=${sessionId}`);
}
