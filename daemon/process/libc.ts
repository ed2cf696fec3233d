import { dlopen, ptr } from "bun:ffi";

/** System calls that Bun does not provide. */
export interface Libc {
  /** Hides this process's memory and environment from debuggers and other processes of the same user. */
  hide(): boolean;
  /** Makes this process a subreaper: orphaned descendants become its children. */
  adoptOrphans(): boolean;
  /** The process id of a zombie child, which is not reaped; 0: none. */
  endedChild(): number;
  /** Reaps a zombie child. */
  reap(pid: number): void;
}

const PR_SET_DUMPABLE = 4;
const PR_SET_CHILD_SUBREAPER = 36;
const P_ALL = 0;
const WNOHANG = 1;
const WEXITED = 4;
const WNOWAIT = 0x01000000;
/** `siginfo_t` is 128 bytes; on 64-bit Linux si_pid is its fifth word. */
const SIGINFO_WORDS = 32;
const SI_PID = 4;

/** glibc, and musl by the name of its loader on each architecture. */
const NAMES = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`, "libc.so"];

/** Null if no C library can be loaded. The daemon works without one, but neither hides its memory nor reaps orphans. */
export function loadLibc(): Libc | null {
  for (const name of NAMES) {
    try {
      return bind(name);
    } catch {
      // try the next name
    }
  }
  return null;
}

function bind(name: string): Libc {
  const { prctl, waitid, waitpid } = dlopen(name, {
    prctl: { args: ["int", "u64", "u64", "u64", "u64"], returns: "int" },
    waitid: { args: ["int", "u32", "ptr", "int"], returns: "int" },
    waitpid: { args: ["int", "ptr", "int"], returns: "int" },
  }).symbols;
  const info = new Int32Array(SIGINFO_WORDS);
  return {
    hide: () => prctl(PR_SET_DUMPABLE, 0n, 0n, 0n, 0n) === 0,
    adoptOrphans: () => prctl(PR_SET_CHILD_SUBREAPER, 1n, 0n, 0n, 0n) === 0,
    endedChild() {
      info.fill(0);
      return waitid(P_ALL, 0, ptr(info), WNOHANG | WEXITED | WNOWAIT) === 0 ? (info[SI_PID] ?? 0) : 0;
    },
    reap: (pid) => void waitpid(pid, null, WNOHANG),
  };
}
