import { renameSync, writeFileSync } from "node:fs";

/** Writes a file that another process reads meanwhile: it reads the old text or the new one, never a part. */
export function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
