import { createCipheriv } from "node:crypto";
import { fastImport, git, INIT_BARE } from "./git.ts";
import type { Workbench } from "./workbench.ts";

interface Noise {
  branch: string;
  /** The branch to start from; without it the commit has no parent. */
  from?: string;
  files: number;
  fileBytes: number;
  /** The bytes depend only on the seed. */
  seed: number;
}

/** Uncompressed and in one pack, which is fast to create and to send. */
const SETTINGS = { "core.compression": "0", "pack.depth": "0", "fastimport.unpackLimit": "1" };

/** Creates a bare repository with one commit of such files on `main`. @returns its path */
export async function makeNoiseRepository(
  bench: Workbench,
  name: string,
  noise: Pick<Noise, "files" | "fileBytes">,
): Promise<string> {
  const path = bench.folder(name);
  await git(path, INIT_BARE);
  await importNoise(path, { branch: "main", ...noise, seed: 0 });
  return path;
}

/** Adds a commit with incompressible files, such as images. */
export async function importNoise(repository: string, noise: Noise): Promise<void> {
  await fastImport(repository, streamOf(noise), SETTINGS);
}

function* streamOf({ branch, from, files, fileBytes, seed }: Noise): Generator<string | Uint8Array> {
  yield `commit refs/heads/${branch}\ncommitter A <a@example.com> 1700000000 +0000\ndata 5\nnoise\n`;
  if (from !== undefined) yield `from refs/heads/${from}^0\n`;
  for (let file = 0; file < files; file++) {
    yield `M 100644 inline noise-${seed}/${file}.bin\ndata ${fileBytes}\n`;
    yield bytesOf(seed, file, fileBytes);
    yield "\n";
  }
  yield "\n";
}

function bytesOf(seed: number, file: number, length: number): Uint8Array {
  const key = Buffer.alloc(16);
  key.writeUInt32BE(seed);
  key.writeUInt32BE(file, 4);
  return createCipheriv("aes-128-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(length));
}
