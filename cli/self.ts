/** How this very program is started again: the binary, or the runtime with the source. */
export function selfCommand(): string[] {
  const isBinary = /^(\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/.test(Bun.main);
  return isBinary ? [process.execPath] : [process.execPath, Bun.main];
}
