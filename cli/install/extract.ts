import { CliError } from "../failure.ts";

/** The largest program has half of that. */
const TAR_MAX_BYTES = 400_000_000;
const SECONDS = 120;
const PYTHON = "import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)";

/** Programs that decompress a `.tar.xz` file, in the order of `scripts/install.sh`. */
const DECOMPRESSORS: readonly (readonly [name: string, ...args: string[]])[] = [
  ["xz", "-dc"],
  ["/usr/lib/apt/apt-helper", "cat-file"],
  ["python3", "-c", PYTHON],
];

/**
 * Files of an archive of a release, whose checksum has been verified. Bun has no decoder of xz, so this uses the machine's.
 * @param archive a path that ends with `.tar.xz`, by which apt recognizes the format
 * @param names the files, in the order in which they are returned; a hard link has the content of the first file
 * @throws CliError `update_failed`
 */
export async function extract<const Names extends readonly [string, ...string[]]>(
  archive: string,
  names: Names,
): Promise<{ [Name in keyof Names]: Uint8Array }>;
export async function extract(archive: string, names: readonly [string, ...string[]]): Promise<Uint8Array[]> {
  for (const [name, ...args] of DECOMPRESSORS) {
    const tar = await outputOf([name, ...args, archive]);
    const files = tar === null ? null : await new Bun.Archive(tar).files().catch(() => null);
    const found = names.map((each) => files?.get(each) ?? files?.get(names[0]));
    const contents = await Promise.all(found.map((file) => file?.bytes()));
    const complete = contents.filter((content) => content !== undefined && content.byteLength > 0);
    if (complete.length === names.length) return complete.filter((content) => content !== undefined);
  }
  return extractWithTar(archive, names);
}

/** The tar of macOS needs no other program. */
async function extractWithTar(archive: string, names: readonly string[]): Promise<Uint8Array[]> {
  const contents: Uint8Array[] = [];
  for (const name of names) {
    const content = await outputOf(["tar", "-xJOf", archive, name]);
    if (content !== null && content.byteLength > 0) contents.push(content);
  }
  if (contents.length === names.length) return contents;
  throw new CliError("update_failed", "The archive of the release cannot be unpacked here.", {
    hint: "Install xz (Debian: sudo apt-get install xz-utils), then run the command again.",
  });
}

async function outputOf([name = "", ...args]: readonly string[]): Promise<Uint8Array | null> {
  const program = Bun.which(name, { PATH: process.env["PATH"] ?? "" });
  if (program === null) return null;
  const child = Bun.spawn([program, ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    timeout: SECONDS * 1000,
    maxBuffer: TAR_MAX_BYTES,
  });
  const output = await new Response(child.stdout).bytes();
  return (await child.exited) === 0 ? output : null;
}
