import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./binaries.ts";

/** A digest of the names and contents of files, the version of Bun and `words`: equal digests mean equal results. */
export function digest(inputs: readonly string[], words: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify([Bun.version, Bun.revision, process.arch, words]));
  for (const file of inputs.flatMap(filesOf)) {
    const bytes = readFileSync(join(ROOT, file));
    hash.update(`\0${file}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

/** The stamp that `writeStamp` stored for a result; null if there is none. */
export function readStamp(name: string): string | null {
  const path = stampPath(name);
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

export function writeStamp(name: string, text: string): void {
  const path = stampPath(name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

function stampPath(name: string): string {
  return join(ROOT, "node_modules/.cache/svc/stamps", name);
}

function filesOf(input: string): string[] {
  const path = join(ROOT, input);
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [input];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(input, name)));
}
