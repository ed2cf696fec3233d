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
  /** Of the document of a page: the pattern of the addresses that show the page, such as `/projects/:projectId/secrets`. */
  route?: string;
}

export interface DashboardFiles {
  find(name: string): DashboardFile | undefined;
  /** The document for an address: that of its page, which also names the code of the page, or the one for any page. */
  document(path: string): DashboardFile | undefined;
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
  const documents = listed.flatMap((file) => (file.route ? [{ file, matches: matcher(file.route) }] : []));
  const read = new Map<string, Uint8Array<ArrayBuffer>>();
  return {
    find: (name) => files.get(name),
    document: (path) => documents.find(({ matches }) => matches.test(path))?.file ?? files.get("index.html"),
    read({ name }, encoding) {
      const path = join(folder ?? "", `${name}${encoding === null ? "" : SUFFIX[encoding]}`);
      const bytes = read.get(path) ?? new Uint8Array(readFileSync(path));
      read.set(path, bytes);
      return bytes;
    },
  };
}

/** A pattern of the dashboard's router: a segment with a colon is any one segment. */
function matcher(route: string): RegExp {
  const segments = route.split("/").map((part) => (part.startsWith(":") ? "[^/]+" : RegExp.escape(part)));
  return new RegExp(`^${segments.join("/")}/?$`);
}

function readList(path: string): DashboardFile[] {
  const list = parseJson(readFileSync(path, "utf8"));
  return Array.isArray(list) ? list.filter(isFile) : [];
}

function isFile(value: unknown): value is DashboardFile {
  const file = Object(value);
  const hasRoute = file.route === undefined || typeof file.route === "string";
  return hasRoute && ["name", "type", "etag"].every((key) => typeof file[key] === "string");
}
