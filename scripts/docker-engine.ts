import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { DataFolderInUseError, lockDataFolder } from "../src/data-folder.ts";
import { writeRuntimes } from "./docker-runtimes.ts";

export interface DockerEngine {
  /** The value for DOCKER_HOST. */
  host: string;
  /** Stops the engine and its containers, and removes its files. */
  stop(): Promise<void>;
}

/** A tar of the files of a Debian with git and nftables. `.ci/run` creates it, so that tests need no registry. */
const ROOTFS = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "svc/test-rootfs.tar");
/** The tag of the tar in the engine: the base of svc's default image. */
const BASE = { repo: "debian", tag: "bookworm-slim" };
export const BASE_IMAGE = `${BASE.repo}:${BASE.tag}`;

const START_MS = 60_000;
/** The engine kills containers after ten seconds, then unmounts their files. */
const STOP_MS = 30_000;
const PRUNE_MS = 10_000;
/**
 * The address range of sandbox networks. Requests of tests to the address of a removed network must not leave the machine.
 */
const NETWORKS = "198.18.0.0/15";
/**
 * The lock for the bridge and the iptables of the machine: only one test engine may run at a time. An engine in its own
 * network namespace has its own.
 */
const LOCK = join("/tmp", `svc-test-docker-${readlinkSync("/proc/self/ns/net").replace(/\D/g, "")}`);
const LOCK_WAIT_MS = 10 * 60_000;
const POLL_MS = 200;

/**
 * Starts a Docker engine in a temporary folder.
 * @returns `missing`, the reason, if this machine cannot run it
 */
export async function startDockerEngine(): Promise<DockerEngine | { missing: string }> {
  const program = Bun.which("dockerd", { PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` });
  if (process.getuid?.() !== 0 || program === null) return { missing: "root and dockerd are required" };
  if (!existsSync(ROOTFS)) return { missing: `${ROOTFS} does not exist; .ci/run creates it` };
  const unlock = await acquireLock();
  if (unlock === null) return { missing: "another test run did not stop its engine in time" };
  removeBridges();
  Bun.spawnSync(["ip", "route", "replace", "unreachable", NETWORKS]);
  const folder = mkdtempSync(join(tmpdir(), "svc-docker-"));
  const socket = join(folder, "docker.sock");
  const child = Bun.spawn(
    [
      // killed together with this process
      ...(Bun.which("setpriv") ? ["setpriv", "--pdeathsig=TERM"] : []),
      program,
      `--data-root=${join(folder, "data")}`,
      `--exec-root=${join(folder, "exec")}`,
      `--pidfile=${join(folder, "pid")}`,
      `--host=unix://${socket}`,
      "--shutdown-timeout=5",
      ...writeRuntimes(folder),
    ],
    { stdin: "ignore", stdout: "ignore", stderr: Bun.file(join(folder, "log")) },
  );
  const stop = async () => {
    // an engine does not remove the bridges of its networks when it stops
    const pruning = { unix: socket, method: "POST", signal: AbortSignal.timeout(PRUNE_MS) };
    await fetch("http://docker/networks/prune", pruning).catch(() => {});
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await child.exited;
    clearTimeout(timer);
    Bun.spawnSync(["ip", "route", "del", "unreachable", NETWORKS]);
    unmountBelow(folder);
    rmSync(folder, { recursive: true, force: true });
    unlock();
  };
  try {
    await untilReady(socket, () => child.exitCode !== null);
    child.unref();
    return { host: `unix://${socket}`, stop };
  } catch (error) {
    const log = existsSync(join(folder, "log")) ? readFileSync(join(folder, "log"), "utf8") : "";
    await stop();
    return { missing: `${error instanceof Error ? error.message : error}: ${log.trim().split("\n").at(-1)}` };
  }
}

/** Removes the bridges that a killed engine left. The lock guarantees that no other test engine is running. */
function removeBridges(): void {
  const [first = ""] = NETWORKS.split(".");
  const links = Bun.spawnSync(["ip", "-oneline", "-4", "address", "show"]).stdout.toString();
  for (const [, name = ""] of links.matchAll(
    new RegExp(`^\\d+: (br-[0-9a-f]+) +inet ${first}\\.1[89]\\.`, "gm"),
  ))
    Bun.spawnSync(["ip", "link", "delete", name]);
}

async function acquireLock(): Promise<(() => void) | null> {
  let isAnnounced = false;
  for (const end = performance.now() + LOCK_WAIT_MS; ; await Bun.sleep(POLL_MS)) {
    try {
      return lockDataFolder(LOCK);
    } catch (error) {
      if (!(error instanceof DataFolderInUseError)) throw error;
      if (performance.now() > end) return null;
      if (!isAnnounced) process.stderr.write("waiting for the Docker engine of another test run to stop …\n");
      isAnnounced = true;
    }
  }
}

/** Waits until the engine answers, and loads the image. */
async function untilReady(socket: string, hasEnded: () => boolean): Promise<void> {
  for (const end = performance.now() + START_MS; ; await Bun.sleep(POLL_MS)) {
    const answer = await fetch("http://docker/_ping", { unix: socket }).catch(() => null);
    if (answer?.ok) break;
    if (hasEnded()) throw new Error("dockerd exited");
    if (performance.now() > end) throw new Error("dockerd was not ready in time");
  }
  const query = new URLSearchParams({ fromSrc: "-", ...BASE });
  const answer = await fetch(`http://docker/images/create?${query}`, {
    unix: socket,
    method: "POST",
    body: Bun.file(ROOTFS),
    signal: AbortSignal.timeout(START_MS),
  });
  const words = await answer.text();
  if (!answer.ok || words.includes('"error"')) throw new Error(`cannot load the base image: ${words}`);
}

function unmountBelow(folder: string): void {
  const paths = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((path) => path.startsWith(`${folder}/`));
  for (const path of paths.reverse()) Bun.spawnSync(["umount", "--lazy", path]);
}
