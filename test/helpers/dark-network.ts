import { readFileSync } from "node:fs";

/** The command that starts a program in a network namespace of its own, in which it may call `openDark`. */
export const NAMESPACE = ["unshare", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]), "--net"];

/** Whether this machine can make such a namespace. */
export function hasNamespace(): boolean {
  const interfaces = ["ip", "link", "add", "dark", "type", "veth", "peer", "name", "gone"];
  return Bun.which("unshare") !== null && Bun.spawnSync([...NAMESPACE, ...interfaces]).exitCode === 0;
}

/**
 * Gives this process's network namespace an interface into which whatever is not for loopback vanishes, as behind a firewall
 * that drops.
 */
export function openDark(): void {
  for (const command of [
    "ip link set lo up",
    "ip link add dark type veth peer name gone",
    "ip link set dark addrgenmode none",
    "ip link set gone addrgenmode none",
    "ip link set dark arp off",
    "ip link set gone up",
    "ip link set dark up",
    "ip address add 198.51.100.1/24 dev dark",
    "ip route add default dev dark",
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(command.split(" "));
    if (exitCode !== 0) throw new Error(`${command}: ${stderr.toString()}`);
  }
}

/** Packets that were sent, or would have been: proc_net_dev(5), of the sender's half three numbers. */
export function sentIntoDark(): number {
  const line = readFileSync("/proc/net/dev", "utf8")
    .split("\n")
    .find((one) => one.trim().startsWith("dark:"));
  const [, packets = 0, errors = 0, dropped = 0] = (line?.split(":")[1] ?? "")
    .trim()
    .split(/\s+/)
    .slice(8)
    .map(Number);
  return packets + errors + dropped;
}
