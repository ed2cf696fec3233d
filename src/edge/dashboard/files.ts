import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "../../contract/json.ts";

/** A folder, so that the build can embed it in a binary, where it stands under this last name beside the code. */
export const DASHBOARD_FOLDER = join(import.meta.dir, "../../../node_modules/.cache/svc/dashboard");

/** One of the files that the build made; beside it are the same, compressed: `<name>.br` and `<name>.gz`. */
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

/** How a file's bytes are compressed; null: not at all. */
export type Encoding = "br" | "gzip" | null;

const SUFFIX = { br: ".br", gzip: ".gz" } as const;

/** The dashboard's files: in a binary always, in the source tree after a build. Without them there is nothing to find. */
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
