import { Glob } from "bun";

const FOLDERS = "{src,db,cli,daemon,dashboard,scripts,test}/**/*.{ts,tsx,mjs}";

/** The project's own source files, as paths relative to `root`, sorted. */
export function sourceFiles(root: string): string[] {
  return [...new Glob(FOLDERS).scanSync({ cwd: root })].sort();
}
