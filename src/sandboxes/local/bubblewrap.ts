import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { chown, writeFile } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import type { Folder } from "./folder.ts";
import { INSIDE_SOCKETS } from "./network.ts";
import { syscallFilter } from "./syscalls.ts";

/** The programs that isolate a sandbox, by their paths on this machine. */
export interface Tools {
  bwrap: string;
  /** Drops root privileges; null where the server does not run as root. */
  setpriv: string | null;
  /** Limits the number of processes; null: it is not limited. */
  prlimit: string | null;
}

/** Paths in a sandbox (spec 2.9). */
export const INSIDE = {
  workspace: "/workspace",
  home: "/opt/svc/home",
  bin: "/opt/svc/bin",
  runtime: "/opt/svc/runtime",
  plugins: "/opt/svc/plugins",
} as const;

export const INSIDE_PATH = `${INSIDE.bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;

const SOCKETS = "/run/svc";

/** Null where the system call numbers of the processor are not known. */
export const SYSCALL_FILTER = syscallFilter(process.arch);
const FILTER = "/opt/svc/syscalls";

/**
 * The prefix of the runtime's command. It adds separate user and pid namespaces, so that the runtime can neither see nor
 * inspect the daemon, which has the service key (user_namespaces(7), pid_namespaces(7)); and a system call filter, which the
 * runtime and its descendants cannot remove.
 */
export const RUNTIME_WRAP: readonly string[] = [
  ...(SYSCALL_FILTER === null
    ? [`${INSIDE.bin}/bwrap`]
    : ["/bin/sh", "-c", `exec "$0" --seccomp 9 "$@" 9<${FILTER}`, `${INSIDE.bin}/bwrap`]),
  // hides the sockets of the daemon and for egress: the runtime has access to the relay ports only
  ...["--unshare-user", "--unshare-pid", "--dev-bind", "/", "/", "--tmpfs", SOCKETS, "--proc", "/proc", "--"],
];

/** The uid and gid of all processes in a sandbox, as seen inside. */
const USER = 1000;
/**
 * The uid and gid that a server that runs as root changes to before it runs a sandbox's processes, so that they have no access
 * to root's files and sockets, some of which the network namespace does not hide. Debian and systemd do not assign this id.
 */
export const UNPRIVILEGED = 60_600;
/** The capabilities to change the user; they are dropped with the change. */
const CHANGE_USER = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"];

/** System folders below `/`: links into /usr on most systems. */
const SYSTEM = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];
/** The files of /etc that programs need. The others are hidden: passwords and keys are among them. */
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

/** @returns the programs, or the name of a required one that is not installed */
export function findTools(): Tools | { missing: "bwrap" | "setpriv" } {
  const bwrap = Bun.which("bwrap");
  const setpriv = Bun.which("setpriv");
  if (bwrap === null) return { missing: "bwrap" };
  if (isRoot() && setpriv === null) return { missing: "setpriv" };
  const prlimit = isLimitPerNamespace(release()) ? Bun.which("prlimit") : null;
  return { bwrap: realpathSync(bwrap), setpriv: isRoot() ? setpriv : null, prlimit };
}

/** Before Linux 5.14, RLIMIT_NPROC counted all of a user's processes on the machine, in all sandboxes and outside. */
function isLimitPerNamespace(linux: string): boolean {
  const [major = 0, minor = 0] = linux.split(".").map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}

/** Makes the sandbox's user the owner of the folder, and writes the files that are mounted into the sandbox. */
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
 * @param programs files and folders to mount read-only: path inside → path on this machine
 * @param volume a folder to mount writable; null: none
 */
export function bubblewrapCommand(
  tools: Tools,
  folder: Folder,
  programs: Readonly<Record<string, string>>,
  volume: Bind | null,
  processes: number,
  command: readonly string[],
): string[] {
  const files = [...fileSystem(tools, folder, programs), ...volumeMount(volume)];
  const limits = tools.prlimit === null ? [] : [tools.prlimit, `--nproc=${processes}`, "--core=0", "--"];
  if (tools.setpriv === null)
    return [tools.bwrap, ...files, ...NAMESPACES, ...READ_ONLY_ROOT, "--", ...limits, ...command];
  // root mounts files that only root can read; everything else runs as the unprivileged user
  const changeUser = [`--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, "--clear-groups", "--"];
  return [
    ...[
      tools.bwrap,
      ...files,
      "--dev",
      "/dev",
      "--dev-bind",
      "/proc",
      "/proc",
      ...READ_ONLY_ROOT,
      ...CHANGE_USER,
      "--",
    ],
    ...[tools.setpriv, ...changeUser],
    ...[tools.bwrap, "--dev-bind", "/", "/", ...NAMESPACES, "--", ...limits, ...command],
  ];
}

/** The network namespace has only a loopback interface. No `--die-with-parent`: a sandbox outlives a killed server. */
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

/** The last mount option: bubblewrap creates the other mount points before. */
const READ_ONLY_ROOT = ["--remount-ro", "/"];

/** A separate root file system, in which only the workspace, the home, /tmp and the folder of the daemon's socket are writable. */
function fileSystem(tools: Tools, folder: Folder, programs: Readonly<Record<string, string>>): string[] {
  const all = { ...programs, [`${INSIDE.bin}/bwrap`]: tools.bwrap };
  return [
    // bubblewrap creates missing parent folders with access for root only
    ...["/etc", "/nix", "/opt", "/opt/svc", INSIDE.bin, INSIDE.runtime, "/run", SOCKETS, "/var"].flatMap(
      (path) => ["--dir", path],
    ),
    ...["--ro-bind", "/usr", "/usr"],
    // hides the data folder of a server that has it below /usr
    ...(folder.path.startsWith("/usr/") ? ["--tmpfs", join(folder.path, "../..")] : []),
    ...SYSTEM.flatMap((name) => systemFolder(`/${name}`)),
    ...["--ro-bind-try", "/nix/store", "/nix/store"],
    ...ETC.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    ...["passwd", "group"].flatMap((name) => ["--ro-bind", join(folder.path, name), `/etc/${name}`]),
    ...["--bind", folder.workspace, INSIDE.workspace],
    ...["--bind", folder.home, INSIDE.home],
    ...["--bind", folder.run, INSIDE_SOCKETS.daemon, "--ro-bind", folder.egress, INSIDE_SOCKETS.egress],
    ...["--bind", folder.tmp, "/tmp", "--symlink", "/tmp", "/var/tmp"],
    ...(SYSCALL_FILTER === null ? [] : ["--ro-bind", join(folder.path, "syscalls"), FILTER]),
    ...Object.entries(all).flatMap(([inside, path]) => ["--ro-bind", path, inside]),
  ];
}

/** A folder of this machine, and where the sandbox has it. */
interface Bind {
  folder: string;
  path: string;
}

function volumeMount(volume: Bind | null): string[] {
  if (volume === null) return [];
  const parts = volume.path.split("/").slice(1, -1);
  // bubblewrap creates missing parent folders with access for root only
  const parents = parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
  return [...parents.flatMap((path) => ["--dir", path]), "--bind", volume.folder, volume.path];
}

function systemFolder(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) return ["--symlink", readlinkSync(path), path];
  return found ? ["--ro-bind", path, path] : [];
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}
