import { createReadStream } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Pack, pack } from "tar-stream";
import type { Copied } from "./unpack.ts";

/**
 * A tar of a file or a folder.
 * @param name its path in the tar
 * @throws system errors, as the stream's
 */
export async function* packPath(path: string, name: string, copied: Copied): AsyncGenerator<Uint8Array> {
  const tar = pack();
  void add(tar, path, name, copied).then(
    () => tar.finalize(),
    (error: Error) => tar.destroy(error),
  );
  for await (const piece of tar) if (piece instanceof Uint8Array) yield piece;
}

async function add(tar: Pack, path: string, name: string, copied: Copied): Promise<void> {
  const found = await lstat(path);
  const common = { name, mode: found.mode & 0o777, mtime: found.mtime };
  if (found.isSymbolicLink()) {
    tar.entry({ ...common, type: "symlink", linkname: await readlink(path) });
  } else if (found.isDirectory()) {
    tar.entry({ ...common, type: "directory" });
    for (const child of (await readdir(path)).toSorted())
      await add(tar, join(path, child), `${name}/${child}`, copied);
  } else if (found.isFile()) {
    const size = found.size;
    const source = size === 0 ? [] : createReadStream(path, { end: size - 1 });
    await pipeline(source, tar.entry({ ...common, type: "file", size }));
    copied.files++;
    copied.bytes += size;
  } else copied.omitted.push(path);
}
