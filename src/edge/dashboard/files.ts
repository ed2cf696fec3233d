import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../../contract/json.ts";

/** The build embeds this folder in the binary, where it is beside the code under the same base name. */
export const DASHBOARD_FOLDER = join(import.meta.dir, "../../../node_modules/.cache/svc/dashboard");

/** A file of the build, which also has it compressed: `<name>.br` and `<name>.gz`. */
export interface DashboardFile {
  name: string;
  type: string;
  /** With its quotes. */
  etag: string;
}

export interface DashboardFiles {
  find(name: string): DashboardFile | undefined;
  read(file: DashboardFile, encoding: Encoding): Uint8Array<ArrayBuffer>;
}

/** The compression of a file; null: none. */
export type Encoding = "br" | "gzip" | null;

const SUFFIX = { br: ".br", gzip: ".gz" } as const;

/** The dashboard's files: always in a binary, in the source tree after a build. Empty without a build. */
export function openDashboardFiles(): DashboardFiles {
  const candidates = [join(import.meta.dir, "dashboard"), DASHBOARD_FOLDER];
  const folder = candidates.find((path) => existsSync(join(path, "files.json")));
  const listed = folder === undefined ? [] : readList(join(folder, "files.json"));
  const files = new Map(listed.map((file) => [file.name, file]));
  const read = new Map<string, Uint8Array<ArrayBuffer>>();
  return {
    find: (name) => files.get(name),
    read({ name }, encoding) {
      const path = join(folder ?? "", `${name}${encoding === null ? "" : SUFFIX[encoding]}`);
      const bytes = read.get(path) ?? new Uint8Array(readFileSync(path));
      read.set(path, bytes);
      return bytes;
    },
  };
}

function readList(path: string): DashboardFile[] {
  const list = parseJson(readFileSync(path, "utf8"));
  return Array.isArray(list) ? list.filter(isFile) : [];
}

function isFile(value: unknown): value is DashboardFile {
  const file = Object(value);
  return ["name", "type", "etag"].every((key) => typeof file[key] === "string");
}
