import { killIfThere } from "./processes.ts";

/** A neighbouring host: a network namespace with its own address and a listener. */
export interface Neighbour {
  address: string;
  /** This machine's own address beside it. */
  ours: string;
  port: number;
  remove(): void;
}

const PORT = 8080;

/** Accepts connections and sends nothing. */
const SILENT = [
  process.execPath,
  "-e",
  `Bun.listen({ hostname: "0.0.0.0", port: ${PORT}, socket: { data() {} } }); console.log("listening")`,
];

/**
 * Makes one; it takes root. The two addresses are the kernel's own: no packet to them leaves the machine.
 * @param address its last number is odd: the even one before is ours
 * @param command of who listens there, at NEIGHBOUR_PORT, and says so when it does
 */
export async function makeNeighbour(address: string, command = SILENT): Promise<Neighbour> {
  const name = `svct${crypto.randomUUID().slice(0, 8)}`;
  const ours = address.replace(/\d+$/, (last) => String(Number(last) - 1));
  removeLeft(ours);
  ip("netns", "add", name);
  ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name);
  ip("addr", "add", `${ours}/31`, "dev", name);
  ip("link", "set", name, "up");
  ip("-n", name, "addr", "add", `${address}/31`, "dev", "eth0");
  ip("-n", name, "link", "set", "eth0", "up");
  ip("-n", name, "route", "add", "default", "via", ours);
  const listener = Bun.spawn(["ip", "netns", "exec", name, ...command], {
    env: { ...process.env, NEIGHBOUR_PORT: String(PORT) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { done } = await listener.stdout.getReader().read();
  if (done) throw new Error("the neighbour does not listen");
  return {
    address,
    ours,
    port: PORT,
    remove() {
      listener.kill("SIGKILL");
      ip("netns", "del", name);
    },
  };
}

/** Removes the neighbour of a killed run: packets would go to the first owner of the address. */
function removeLeft(ours: string): void {
  for (const line of ip("-o", "-4", "addr", "show").split("\n")) {
    const name = line.includes(` ${ours}/31 `) ? /^\d+: (svct[0-9a-f]{8})\b/.exec(line)?.[1] : undefined;
    if (name === undefined) continue;
    for (const pid of ip("netns", "pids", name).split("\n").filter(Boolean)) killIfThere(Number(pid));
    ip("netns", "del", name);
  }
}

/** @returns what it prints */
function ip(...words: string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(["ip", ...words]);
  if (!success) throw new Error(`ip ${words.join(" ")}: ${stderr}`);
  return stdout.toString();
}
