/**
 * System calls that agents do not need, and that had most of the kernel's vulnerabilities: each with its numbers on x86-64
 * and arm64 (asm/unistd_64.h, asm-generic/unistd.h of Linux). Most require privileges that an agent could get only as root
 * of a new user namespace, by `unshare`, `setns` or `clone`.
 */
export const DENIED: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  acct: [163, 89],
  add_key: [248, 217],
  bpf: [321, 280],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  lookup_dcookie: [212, 18],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  pivot_root: [155, 41],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  setns: [308, 268],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
};
const CLONE = [56, 220] as const;
const CLONE3 = [435, 435] as const;

/** The flags of `clone` that create namespaces: CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID, -NET (linux/sched.h). */
const NEW_NAMESPACES = 0x7e02_0000;

/** The kernel's constants for the architectures (linux/audit.h), and their columns in the tables above. */
const ARCHITECTURES = {
  x64: { audit: 0xc000_003e, column: 0 },
  arm64: { audit: 0xc000_00b7, column: 1 },
} as const;
/** Numbers from here on belong to the x32 ABI of the same processor. */
const X32 = 0x4000_0000;

/** Offsets in `struct seccomp_data`; of the first argument, its lower half. */
const OFFSET = { number: 0, architecture: 4, argument: 16 } as const;
/** Operations of classic BPF (linux/bpf_common.h): load a word; jump if equal, at least, or a bit is set; return. */
const OP = { load: 0x20, equal: 0x15, atLeast: 0x35, isSet: 0x45, return: 0x06 } as const;
/** Return values of a filter (linux/seccomp.h): the low half is an errno. */
const ACTION = { allow: 0x7fff_0000, EPERM: 0x0005_0001, ENOSYS: 0x0005_0026 } as const;

type Instruction = readonly [op: number, value: number, then?: number, otherwise?: number];

/**
 * The system call filter for agents, for `bwrap --seccomp`: classic BPF, 8 bytes per instruction (seccomp(2)). `clone3`
 * returns ENOSYS, since a filter cannot read its flags: the C library then calls `clone`.
 * @returns null for a processor whose system call numbers are not known
 */
export function syscallFilter(architecture: string): Uint8Array | null {
  if (!isKnown(architecture)) return null;
  const { audit, column } = ARCHITECTURES[architecture];
  const refuse = (number: number, action: number): Instruction[] => [
    [OP.equal, number, 0, 1],
    [OP.return, action],
  ];
  return encode([
    [OP.load, OFFSET.architecture],
    [OP.equal, audit, 1, 0],
    [OP.return, ACTION.ENOSYS],
    [OP.load, OFFSET.number],
    [OP.atLeast, X32, 0, 1],
    [OP.return, ACTION.ENOSYS],
    ...Object.values(DENIED).flatMap((numbers) => refuse(numbers[column], ACTION.EPERM)),
    ...refuse(CLONE3[column], ACTION.ENOSYS),
    [OP.equal, CLONE[column], 0, 3],
    [OP.load, OFFSET.argument],
    [OP.isSet, NEW_NAMESPACES, 0, 1],
    [OP.return, ACTION.EPERM],
    [OP.return, ACTION.allow],
  ]);
}

function isKnown(architecture: string): architecture is keyof typeof ARCHITECTURES {
  return Object.hasOwn(ARCHITECTURES, architecture);
}

/** `struct sock_filter`: the operation, two jumps, a value. */
function encode(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(instructions.length * 8));
  for (const [index, [op, value, then = 0, otherwise = 0]] of instructions.entries()) {
    bytes.setUint16(index * 8, op, true);
    bytes.setUint8(index * 8 + 2, then);
    bytes.setUint8(index * 8 + 3, otherwise);
    bytes.setUint32(index * 8 + 4, value, true);
  }
  return new Uint8Array(bytes.buffer);
}
