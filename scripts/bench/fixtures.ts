import { fastImport, git, INIT_BARE } from "./git.ts";
import type { Workbench } from "./workbench.ts";

/** A generated repository, with the same bytes in each run. */
export interface Fixture {
  title: string;
  /** A bare repository with the branch `main`. */
  path: string;
  files: number;
}

interface Size {
  title: string;
  files: number;
  commits: number;
}

const SMALL: Size = { title: "small repository", files: 300, commits: 100 };
const LARGE: Size = { title: "70,000 files, 20,000 commits", files: 70_000, commits: 20_000 };

/** Files that a commit of the history changes. */
const CHANGES = 2;
const LINES = 12;
const PART_BYTES = 1024 * 1024;

const cache = new WeakMap<Workbench, Map<Size, Promise<Fixture>>>();

/** The repositories, the small one first. A smoke run uses only that one. */
export async function* fixtures(bench: Workbench): AsyncGenerator<Fixture> {
  for (const size of [SMALL, LARGE].slice(0, bench.amount(2))) yield await make(bench, size);
}

export function smallFixture(bench: Workbench): Promise<Fixture> {
  return make(bench, SMALL);
}

/** The path of a file, nested as in a monorepo. */
export function pathOf(file: number): string {
  const name = `packages/p${file % 140}/src/m${Math.floor(file / 140) % 25}/file-${file}.ts`;
  return name;
}

/** The text of a file in a version. Versions differ in one line. */
export function textOf(file: number, version: number): string {
  const lines = Array.from({ length: LINES }, (_, line) => {
    const value = (file * 31 + line * 7 + (line === version % LINES ? version : 0)) % 99_991;
    return `export const value_${file}_${line} = ${value};\n`;
  });
  return lines.join("");
}

function make(bench: Workbench, size: Size): Promise<Fixture> {
  const fixtures = cache.getOrInsertComputed(bench, () => new Map());
  return fixtures.getOrInsertComputed(size, () => generate(bench.folder("fixture"), size));
}

/** Packed and with a commit-graph, as on a git host. */
async function generate(path: string, size: Size): Promise<Fixture> {
  const begun = performance.now();
  await git(path, INIT_BARE);
  await fastImport(path, inParts(history(size)));
  await git(path, ["repack", "-a", "-d", "-q"]);
  await git(path, ["commit-graph", "write", "--reachable"]);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  process.stderr.write(`bench: created the repository "${size.title}" in ${seconds} s\n`);
  return { title: size.title, path, files: size.files };
}

function* history({ files, commits }: Size): Generator<string> {
  for (let commit = 0; commit < commits; commit++) {
    yield `commit refs/heads/main\ncommitter A <a@example.com> ${1_600_000_000 + commit * 600} +0000\n`;
    yield data(`change ${commit}`);
    const count = commit === 0 ? files : CHANGES;
    for (let change = 0; change < count; change++) {
      const file = commit === 0 ? change : (commit * 7919 + change * 104_729) % files;
      yield `M 100644 inline ${pathOf(file)}\n${data(textOf(file, commit))}`;
    }
    yield "\n";
  }
}

/** A data block of fast-import. */
export function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

function* inParts(stream: Iterable<string>): Generator<string> {
  let part = "";
  for (const text of stream) {
    part += text;
    if (part.length < PART_BYTES) continue;
    yield part;
    part = "";
  }
  yield part;
}
