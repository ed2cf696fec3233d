import { CliError } from "../failure.ts";

/** The largest program has half of that. */
const PROGRAM_MAX_BYTES = 300_000_000;
const SECONDS = 120;
const PYTHON = "import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)";

/** Commands that decompress a `.tar.xz` file, or print the file in it, in the order of `scripts/install.sh`. */
const COMMANDS: readonly { gives: "tar" | "program"; command(archive: string): string[] }[] = [
  { gives: "tar", command: (archive) => ["xz", "-dc", archive] },
  { gives: "tar", command: (archive) => ["/usr/lib/apt/apt-helper", "cat-file", archive] },
  { gives: "program", command: (archive) => ["tar", "-xJOf", archive, "svc"] },
  { gives: "tar", command: (archive) => ["python3", "-c", PYTHON, archive] },
];

/**
 * The program in an archive of a release, whose checksum has been verified. Bun has no decoder of xz, so this uses the
 * machine's.
 * @throws CliError `update_failed`
 */
export async function extractProgram(archive: string): Promise<Uint8Array> {
  for (const { gives, command } of COMMANDS) {
    const [name = "", ...rest] = command(archive);
    const path = Bun.which(name);
    const output = path === null ? null : await outputOf([path, ...rest]);
    if (output === null) continue;
    const program = gives === "program" ? output : await memberOf(output);
    if (program !== null && program.byteLength > 0) return program;
  }
  throw new CliError("update_failed", "The archive of the release cannot be unpacked here.", {
    hint: "Install xz (Debian: sudo apt-get install xz-utils), then run svc update again.",
  });
}

async function outputOf(command: string[]): Promise<Uint8Array | null> {
  const child = Bun.spawn(command, {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    timeout: SECONDS * 1000,
    maxBuffer: PROGRAM_MAX_BYTES,
  });
  const output = await new Response(child.stdout).bytes();
  return (await child.exited) === 0 ? output : null;
}

async function memberOf(tar: Uint8Array): Promise<Uint8Array | null> {
  const files = await new Bun.Archive(tar).files("svc").catch(() => null);
  const file = files?.get("svc");
  return file === undefined ? null : await file.bytes();
}
