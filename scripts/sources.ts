import { Glob } from "bun";

const FOLDERS = "{src,db,cli,daemon,dashboard,scripts,test}/**/*.{ts,tsx,mjs}";

/** The source files of the project, sorted, as paths relative to `root`. */
export function sourceFiles(root: string): string[] {
  return [...new Glob(FOLDERS).scanSync({ cwd: root })].sort();
}
