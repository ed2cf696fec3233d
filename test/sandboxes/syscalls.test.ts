import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { DENIED, syscallFilter } from "../../src/sandboxes/local/syscalls.ts";
import { needs } from "../helpers/needs.ts";

const EPERM = 0x0005_0001;
const ENOSYS = 0x0005_0026;
const ALLOW = 0x7fff_0000;
const HEADERS = {
  x64: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
  arm64: "/usr/include/asm-generic/unistd.h",
};
const MACHINES = [
  { name: "x64", audit: 0xc000_003e, clone: 56, column: 0 },
  { name: "arm64", audit: 0xc000_00b7, clone: 220, column: 1 },
] as const;

/** What the kernel would answer (seccomp(2)): runs a filter on the call's number, architecture and first argument. */
function judge(filter: Uint8Array, number: number, audit: number, argument = 0): number {
  const code = new DataView(filter.buffer);
  const data: Record<number, number> = { 0: number, 4: audit, 16: argument };
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 8) {
    const [op, value] = [code.getUint16(at, true), code.getUint32(at + 4, true)];
    if (op === 0x06) return value;
    if (op === 0x20) loaded = data[value] ?? Number.NaN;
    else {
      const isTrue = op === 0x15 ? loaded === value : op === 0x35 ? loaded >= value : (loaded & value) !== 0;
      at += 8 * code.getUint8(at + (isTrue ? 2 : 3));
    }
  }
  throw new Error("a filter ended without an answer, which no kernel takes");
}

describe.each(MACHINES)("on $name", ({ name, audit, clone, column }) => {
  const filter = syscallFilter(name) ?? new Uint8Array();
  const denied = new Set<number>(Object.values(DENIED).map((numbers) => numbers[column]));

  test("allows every call that is not denied", () => {
    for (let number = 0; number < 600; number++) {
      const expected = number === 435 ? ENOSYS : denied.has(number) ? EPERM : ALLOW;
      expect([number, judge(filter, number, audit)]).toEqual([number, expected]);
    }
  });

  test("allows processes and threads, and denies namespaces", () => {
    // SIGCHLD; the flags of a C library for a thread
    for (const flags of [17, 0x003d_0f00, 0x0000_ffff, 0x01fd_ffff])
      expect([flags, judge(filter, clone, audit, flags)]).toEqual([flags, ALLOW]);
    for (const bit of [17, 25, 26, 27, 28, 29, 30])
      expect([bit, judge(filter, clone, audit, 17 | (1 << bit))]).toEqual([bit, EPERM]);
  });

  test("denies calls of another architecture", () => {
    for (const other of [0x4000_0003, 0x4000_0028, 0]) expect(judge(filter, 0, other)).toBe(ENOSYS);
    expect([0x3fff_ffff, 0x4000_0000, 0xffff_ffff].map((number) => judge(filter, number, audit))).toEqual([
      ALLOW,
      ENOSYS,
      ENOSYS,
    ]);
  });

  const header = HEADERS[name];
  needs("the kernel's headers (linux-libc-dev)", existsSync(header))(
    "the numbers match the kernel's headers",
    () => {
      const text = readFileSync(header, "utf8");
      const numbers = new Map(
        [...text.matchAll(/^#define __NR_(\w+)\s+(\d+)$/gm)].map(([, call, number]) => [
          call,
          Number(number),
        ]),
      );
      expect(numbers.get("clone")).toBe(clone);
      for (const [call, wanted] of Object.entries(DENIED))
        expect([call, numbers.get(call)]).toEqual([call, wanted[column]]);
    },
  );
});

test("an unknown processor has no filter", () => {
  expect(["ia32", "riscv64", "toString"].map(syscallFilter)).toEqual([null, null, null]);
});
