import { readFileSync } from "node:fs";

/** Why sandboxes cannot be isolated on this machine. */
export type Missing =
  | { kind: "platform" }
  | { kind: "program"; program: "bwrap" | "setpriv" }
  | { kind: "refused"; reason: string };

/** What describes a machine as far as a remedy depends on it; a test names another. */
export interface Machine {
  /** Whether a program is installed. */
  has(program: string): boolean;
  /** A kernel setting below /proc/sys; empty where the kernel does not have it. */
  setting(name: string): string;
}

/** @returns a clause without a full stop, and what the operator can do about it, a sentence with a command in it */
export function remedyOf(
  missing: Missing,
  machine: Machine = THIS_MACHINE,
): { reason: string; remedy: string } {
  if (missing.kind === "platform")
    return {
      reason: "bubblewrap works on Linux only",
      remedy: "Start Docker on the server's machine, and set SVC_SANDBOX_PROVIDER=docker.",
    };
  if (missing.kind === "program") {
    const name = missing.program === "bwrap" ? "bubblewrap" : "util-linux";
    return {
      reason:
        missing.program === "bwrap"
          ? "bubblewrap is not installed on the server's machine"
          : "setpriv, which a server that runs as root needs beside bubblewrap, is not installed on its machine",
      remedy: `Run there: ${installCommand(name, machine)}`,
    };
  }
  const setting = SETTINGS.find(({ name, refuses }) => machine.setting(name) === refuses);
  return {
    reason: `bubblewrap does not work on the server's machine (${missing.reason})`,
    remedy: setting
      ? `Run there as root: sysctl -w ${setting.name.replaceAll("/", ".")}=${setting.allows}`
      : "Allow unprivileged user namespaces there, or start Docker and set SVC_SANDBOX_PROVIDER=docker.",
  };
}

/** Kernel settings that keep ordinary users from creating namespaces (user_namespaces(7); Debian's and Ubuntu's own). */
const SETTINGS = [
  { name: "kernel/apparmor_restrict_unprivileged_userns", refuses: "1", allows: "0" },
  { name: "kernel/unprivileged_userns_clone", refuses: "0", allows: "1" },
  { name: "user/max_user_namespaces", refuses: "0", allows: "15000" },
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
