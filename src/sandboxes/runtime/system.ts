import { existsSync, readFileSync } from "node:fs";
import { type Package, PROGRAMS } from "./packages.ts";

/** The package with the program for this machine; null when there is none. */
export function programPackage(): Package | null {
  const { platform, arch } = process;
  const kinds = [...(needsBaseline() ? ["baseline"] : []), ...(isMusl() ? ["musl"] : [])];
  return PROGRAMS[[platform, arch, ...kinds].join("-")] ?? null;
}

/** The name of this system in packages that need no particular processor. */
export function systemName(): string {
  return [process.platform, process.arch, ...(isMusl() ? ["musl"] : [])].join("-");
}

/** Whether the processor has no AVX2, which the builds for x64 need, except baseline. */
function needsBaseline(): boolean {
  if (process.platform !== "linux" || process.arch !== "x64") return false;
  return !/^flags\s*:.*\bavx2\b/m.test(read("/proc/cpuinfo"));
}

const LOADERS = {
  glibc: ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"],
  musl: ["/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"],
};

/** On a machine with both, glibc is the default. */
function isMusl(): boolean {
  return LOADERS.musl.some(existsSync) && !LOADERS.glibc.some(existsSync);
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
