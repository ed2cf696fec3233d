/** The part of lzma-native that the release build uses; the package has no types. */
declare module "lzma-native" {
  import type { Transform } from "node:stream";

  const lzma: {
    FILTER_LZMA2: string;
    FILTER_X86: string;
    CHECK_CRC32: number;
    versionString(): string;
    createStream(coder: "streamEncoder", options: { filters: readonly object[]; check: number }): Transform;
    decompress(input: Buffer, done: (output: Buffer | null, error?: unknown) => void): void;
  };
  export = lzma;
}
