import type { Platform } from "../../src/contract/release.ts";
import { readElf } from "./elf.ts";
import { ReleaseBuildError } from "./failure.ts";
import { checkPageHashes, readMachO } from "./macho.ts";
import { readPe } from "./pe.ts";

/** What a Linux program may require of a machine. */
interface LinuxNeeds {
  interpreter: string;
  libraries: readonly string[];
  /** The newest version of glibc: 2.17 is from 2012. */
  glibc: string | null;
}

const GLIBC = ["libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6"];
const GLIBC_VERSION = "2.17";
const LINUX: Readonly<Partial<Record<Platform, LinuxNeeds>>> = {
  "linux-x64": {
    interpreter: "/lib64/ld-linux-x86-64.so.2",
    libraries: [...GLIBC, "ld-linux-x86-64.so.2"],
    glibc: GLIBC_VERSION,
  },
  "linux-arm64": {
    interpreter: "/lib/ld-linux-aarch64.so.1",
    libraries: [...GLIBC, "ld-linux-aarch64.so.1"],
    glibc: GLIBC_VERSION,
  },
  "linux-x64-musl": {
    interpreter: "/lib/ld-musl-x86_64.so.1",
    libraries: ["libc.musl-x86_64.so.1", "libstdc++.so.6"],
    glibc: null,
  },
  "linux-arm64-musl": {
    interpreter: "/lib/ld-musl-aarch64.so.1",
    libraries: ["libc.musl-aarch64.so.1", "libstdc++.so.6"],
    glibc: null,
  },
};
/** The section with svc's code in the programs that Bun compiles. */
const PE_CODE_SECTION = ".bun";
const MACHO_CODE_SEGMENT = "__BUN";

/**
 * Reads a program's headers, and compares them with what its platform requires.
 * @returns what was found, for people
 * @throws ReleaseBuildError or FormatError
 */
export function inspectProgram(bytes: Uint8Array, platform: Platform): string {
  const linux = LINUX[platform];
  if (linux) return inspectElf(bytes, platform, linux);
  return platform === "windows-x64" ? inspectPe(bytes) : inspectMachO(bytes, platform);
}

function inspectElf(bytes: Uint8Array, platform: Platform, wanted: LinuxNeeds): string {
  const elf = readElf(bytes);
  require(`linux-${elf.machine}` === platform.replace("-musl", ""), `is for ${elf.machine}`);
  require(elf.interpreter === wanted.interpreter, `has the interpreter ${elf.interpreter}`);
  const more = elf.needed.filter((library) => !wanted.libraries.includes(library));
  require(more.length === 0, `needs ${more.join(", ")}`);
  const newer = elf.versions.filter((version) => !isAllowed(version, wanted.glibc));
  require(newer.length === 0, `needs ${newer.join(", ")}`);
  return `ELF ${elf.machine}, ${elf.interpreter}, needs ${elf.needed.join(" ")}`;
}

function isAllowed(version: string, glibc: string | null): boolean {
  const number = /^GLIBC_(\d+\.\d+(?:\.\d+)?)$/.exec(version)?.[1];
  if (number === undefined || glibc === null) return false;
  const numbers = (text: string) => text.split(".").map(Number);
  const [[major = 0, minor = 0], [majorMax = 0, minorMax = 0]] = [numbers(number), numbers(glibc)];
  return major < majorMax || (major === majorMax && minor <= minorMax);
}

function inspectPe(bytes: Uint8Array): string {
  const { machine, subsystem, sections } = readPe(bytes);
  const code = sections.find(({ name }) => name === PE_CODE_SECTION);
  require(code !== undefined && code.size > 0, `has no section ${PE_CODE_SECTION}`);
  require(subsystem === "console", `is for the subsystem ${subsystem}`);
  return `PE ${machine}, ${sections.length} sections, ${PE_CODE_SECTION} has ${code?.size} bytes`;
}

function inspectMachO(bytes: Uint8Array, platform: Platform): string {
  const { machine, segments } = readMachO(bytes);
  require(`macos-${machine}` === platform, `is for ${machine}`);
  const code = segments.find(({ name }) => name === MACHO_CODE_SEGMENT);
  require(code !== undefined && code.size > 0, `has no segment ${MACHO_CODE_SEGMENT}`);
  const { pages, wrong, isComplete } = checkPageHashes(bytes);
  require(wrong === 0, `has ${wrong} of ${pages} page hashes wrong, so that macOS would end it`);
  require(isComplete, "has a signature that does not cover all of it");
  return `Mach-O ${machine}, ${pages} page hashes match`;
}

function require(isMet: boolean, problem: string): void {
  if (!isMet) throw new ReleaseBuildError(`the program ${problem}`);
}
