/** The part of lzma-native that the release build uses; the package has no types. */
declare module "lzma-native" {
  const lzma: {
    versionString(): string;
    compress(
      input: Buffer,
      options: { preset: number; threads: number },
      done: (output: Buffer | null, error?: unknown) => void,
    ): void;
    decompress(input: Buffer, done: (output: Buffer | null, error?: unknown) => void): void;
  };
  export = lzma;
}
