import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { chown, writeFile } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import type { Folder } from "./folder.ts";
import { INSIDE_SOCKETS } from "./network.ts";
import { syscallFilter } from "./syscalls.ts";

/** The programs that the walls of a sandbox are made with, by their paths on this machine. */
export interface Tools {
  bwrap: string;
  /** Gives up root; only where the server runs as root. */
  setpriv: string | null;
  /** Bounds the processes; null: they are not bounded. */
  prlimit: string | null;
}

/** Where things are in a sandbox (spec 2.9). */
export const INSIDE = {
  workspace: "/workspace",
  home: "/opt/svc/home",
  bin: "/opt/svc/bin",
  runtime: "/opt/svc/runtime",
  plugins: "/opt/svc/plugins",
} as const;

export const INSIDE_PATH = `${INSIDE.bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;

const SOCKETS = "/run/svc";

/** Null where the processor's numbers of system calls are not known. */
export const SYSCALL_FILTER = syscallFilter(process.arch);
const FILTER = "/opt/svc/syscalls";

/**
 * What stands before the runtime's command: user and pid namespaces of its own, so that it neither sees the daemon, which
 * holds the sandbox's service key, nor may look into it (user_namespaces(7), pid_namespaces(7)); and a filter of system
 * calls, which it and all that it starts cannot take off.
 */
export const RUNTIME_WRAP: readonly string[] = [
  ...(SYSCALL_FILTER === null
    ? [`${INSIDE.bin}/bwrap`]
    : ["/bin/sh", "-c", `exec "$0" --seccomp 9 "$@" 9<${FILTER}`, `${INSIDE.bin}/bwrap`]),
  // neither may it take the daemon's socket, nor the ways out but by the ports that lead there
  ...["--unshare-user", "--unshare-pid", "--dev-bind", "/", "/", "--tmpfs", SOCKETS, "--proc", "/proc", "--"],
];

/** The user that everything in a sandbox runs as, as it is called inside. */
const USER = 1000;
/**
 * The user that root becomes before anything of a sandbox runs: root's own files and sockets, of which some are reached
 * through the network's namespace, are not for it. Debian and systemd give this number to nobody.
 */
const UNPRIVILEGED = 60_600;
/** The capabilities that becoming another user takes; they end with it. */
const TO_CHANGE_USER = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"];

/** Folders of the system at the root, where they are not links into /usr. */
const SYSTEM = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];
/** What programs look for in /etc, and no more: it also holds passwords and keys. */
const ETC = [
  ...[
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
  ],
  ...["host.conf", "hosts", "java", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime"],
  ...["lsb-release", "magic", "mime.types", "nsswitch.conf", "os-release", "perl", "pki", "profile"],
  ...["protocols", "resolv.conf", "services", "ssl", "static", "terminfo", "timezone"],
];

/** Finds the programs, or the first one that is not installed. */
export function findTools(): Tools | { missing: "bwrap" | "setpriv" } {
  const bwrap = Bun.which("bwrap");
  const setpriv = Bun.which("setpriv");
  if (bwrap === null) return { missing: "bwrap" };
  if (isRoot() && setpriv === null) return { missing: "setpriv" };
  const prlimit = countsBySandbox(release()) ? Bun.which("prlimit") : null;
  return { bwrap: realpathSync(bwrap), setpriv: isRoot() ? setpriv : null, prlimit };
}

/** Before Linux 5.14 a limit of processes counted all that a user has on the machine, inside of sandboxes and out. */
function countsBySandbox(linux: string): boolean {
  const [major = 0, minor = 0] = linux.split(".").map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

/** Gives the folder to the user that the sandbox runs as, and writes the files that it reads. */
export async function prepareFolder(folder: Folder): Promise<void> {
  const passwd = `root:x:0:0::/root:/bin/sh\nsvc:x:${USER}:${USER}::${INSIDE.home}:${SHELL}\n${NOBODY}`;
  await writeFile(join(folder.path, "passwd"), passwd, { mode: 0o644 });
  await writeFile(join(folder.path, "group"), `root:x:0:\nsvc:x:${USER}:\nnogroup:x:65534:\n`, {
    mode: 0o644,
  });
  if (SYSCALL_FILTER !== null)
    await writeFile(join(folder.path, "syscalls"), SYSCALL_FILTER, { mode: 0o644 });
  if (!isRoot()) return;
  for (const path of [folder.workspace, folder.home, folder.tmp, folder.run])
    await chown(path, UNPRIVILEGED, UNPRIVILEGED);
}

export const SHELL = existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
const NOBODY = "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n";

/**
 * The command that runs another one in a sandbox.
 * @param programs files and folders that the sandbox is to find, by their path inside: paths on this machine
 */
export function behindWalls(
  tools: Tools,
  folder: Folder,
  programs: Readonly<Record<string, string>>,
  processes: number,
  command: readonly string[],
): string[] {
  const files = fileSystem(tools, folder, programs);
  const limits = tools.prlimit === null ? [] : [tools.prlimit, `--nproc=${processes}`, "--core=0", "--"];
  if (tools.setpriv === null)
    return [tools.bwrap, ...files, ...NAMESPACES, ...CLOSED, "--", ...limits, ...command];
  // files that only root may see are brought in by root, and everything else happens without it
  const become = [`--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, "--clear-groups", "--"];
  return [
    ...[
      tools.bwrap,
      ...files,
      "--dev",
      "/dev",
      "--dev-bind",
      "/proc",
      "/proc",
      ...CLOSED,
      ...TO_CHANGE_USER,
      "--",
    ],
    ...[tools.setpriv, ...become],
    ...[tools.bwrap, "--dev-bind", "/", "/", ...NAMESPACES, "--", ...limits, ...command],
  ];
}

/** A network that has nothing but its own loopback. Not `--die-with-parent`: a sandbox outlives a server that is killed. */
const NAMESPACES = [
  ...["--unshare-user", "--uid", String(USER), "--gid", String(USER)],
  ...[
    "--unshare-net",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--hostname",
    "svc",
  ],
  ...["--new-session", "--dev", "/dev", "--proc", "/proc", "--chdir", INSIDE.workspace],
];

/** Said last: what is mounted where needs a folder. */
const CLOSED = ["--remount-ro", "/"];

/** A root of its own, on which only the workspace, the home and /tmp can be written. */
function fileSystem(tools: Tools, folder: Folder, programs: Readonly<Record<string, string>>): string[] {
  const all = { ...programs, [`${INSIDE.bin}/bwrap`]: tools.bwrap };
  return [
    // folders that are only made on the way to something are root's alone
    ...["/etc", "/nix", "/opt", "/opt/svc", INSIDE.bin, INSIDE.runtime, "/run", SOCKETS, "/var"].flatMap(
      (path) => ["--dir", path],
    ),
    ...["--ro-bind", "/usr", "/usr"],
    // where a server keeps its data below /usr
    ...(folder.path.startsWith("/usr/") ? ["--tmpfs", join(folder.path, "../..")] : []),
    ...SYSTEM.flatMap((name) => systemFolder(`/${name}`)),
    ...["--ro-bind-try", "/nix/store", "/nix/store"],
    ...ETC.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    ...["passwd", "group"].flatMap((name) => ["--ro-bind", join(folder.path, name), `/etc/${name}`]),
    ...["--bind", folder.workspace, INSIDE.workspace],
    ...["--bind", folder.home, INSIDE.home],
    ...["--bind", folder.run, INSIDE_SOCKETS.daemon, "--ro-bind", folder.outlets, INSIDE_SOCKETS.outlets],
    ...["--bind", folder.tmp, "/tmp", "--symlink", "/tmp", "/var/tmp"],
    ...(SYSCALL_FILTER === null ? [] : ["--ro-bind", join(folder.path, "syscalls"), FILTER]),
    ...Object.entries(all).flatMap(([inside, path]) => ["--ro-bind", path, inside]),
  ];
}

function systemFolder(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) return ["--symlink", readlinkSync(path), path];
  return found ? ["--ro-bind", path, path] : [];
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
