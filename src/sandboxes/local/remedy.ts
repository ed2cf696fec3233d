import { readFileSync } from "node:fs";

/** Why sandboxes cannot be isolated on this machine. */
export type Missing =
  | { kind: "platform" }
  | { kind: "program"; program: "bwrap" | "setpriv" }
  | { kind: "refused"; reason: string };

/** The properties of a machine that a remedy depends on. */
export interface Machine {
  /** Whether a program is installed. */
  has(program: string): boolean;
  /** A kernel setting below /proc/sys; empty where the kernel does not have it. */
  setting(name: string): string;
}

/** @returns the reason as a clause without a full stop, and the remedy as a sentence with a command */
export function remedyOf(
  missing: Missing,
  machine: Machine = THIS_MACHINE,
): { reason: string; remedy: string } {
  if (missing.kind === "platform")
    return {
      reason: "bubblewrap requires Linux",
      remedy: "Start Docker on the server's machine, and set SVC_SANDBOX_PROVIDER=docker.",
    };
  if (missing.kind === "program") {
    const name = missing.program === "bwrap" ? "bubblewrap" : "util-linux";
    return {
      reason:
        missing.program === "bwrap"
          ? "bubblewrap is not installed on the server's machine"
          : "setpriv, which a server that runs as root also needs, is not installed on the server's machine",
      remedy: `Run there: ${installCommand(name, machine)}`,
    };
  }
  const setting = SETTINGS.find(({ name, blocks }) => machine.setting(name) === blocks);
  return {
    reason: `bubblewrap does not work on the server's machine (${missing.reason})`,
    remedy: setting
      ? `Run there as root: sysctl -w ${setting.name.replaceAll("/", ".")}=${setting.allows}`
      : "Allow unprivileged user namespaces there, or start Docker and set SVC_SANDBOX_PROVIDER=docker.",
  };
}

/** Kernel settings that forbid namespaces for ordinary users (user_namespaces(7), and patches of Debian and Ubuntu). */
const SETTINGS = [
  { name: "kernel/apparmor_restrict_unprivileged_userns", blocks: "1", allows: "0" },
  { name: "kernel/unprivileged_userns_clone", blocks: "0", allows: "1" },
  { name: "user/max_user_namespaces", blocks: "0", allows: "15000" },
];

const INSTALLERS = [
  ["apt-get", "apt-get install -y"],
  ["dnf", "dnf install -y"],
  ["apk", "apk add"],
  ["pacman", "pacman -S --noconfirm"],
  ["zypper", "zypper install -y"],
] as const;

function installCommand(name: string, machine: Machine): string {
  const [, command] = INSTALLERS.find(([program]) => machine.has(program)) ?? INSTALLERS[0];
  return `${command} ${name}`;
}

const THIS_MACHINE: Machine = {
  has: (program) => Bun.which(program) !== null,
  setting(name) {
    try {
      return readFileSync(`/proc/sys/${name}`, "utf8").trim();
    } catch {
      return "";
    }
  },
};
