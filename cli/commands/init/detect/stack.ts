/** The files of a folder that say what is needed to work in it. */
export interface ProjectFolder {
  /** Below the top of the repository; empty: the top itself. */
  path: string;
  /** Names of its files, and the texts of those that `TEXTS` names. */
  files: ReadonlyMap<string, string>;
}

/** What a folder needs of one language. */
export interface Found {
  /** Such as `Node`. */
  name: string;
  /** Its major or minor version; null: the newest. */
  version: string | null;
  /** The files that say so. */
  because: string[];
  /** Instructions of a Dockerfile on Debian 12 with git, curl and build tools. */
  image: string[];
  /** Installs the dependencies, in the folder; null: there are none. */
  setup: string | null;
}

/** A language, and how a folder shows that it is used. */
export interface Stack {
  name: string;
  /** A folder with one of these files uses it. */
  marks: readonly string[];
  /** Other files whose texts it reads. */
  reads: readonly string[];
  /** @param folder has one of `marks` */
  find(folder: ProjectFolder): Omit<Found, "name">;
}

/** The first of these files that a folder has. */
export function firstOf({ files }: ProjectFolder, ...names: string[]): string | null {
  return names.find((name) => files.has(name)) ?? null;
}

/** Those of these files that a folder has. */
export function allOf({ files }: ProjectFolder, ...names: (string | null)[]): string[] {
  return names.filter((name) => name !== null).filter((name) => files.has(name));
}

/** The text of a file; empty without one. */
export function textOf({ files }: ProjectFolder, name: string): string {
  return files.get(name) ?? "";
}

/** Where tools of `COPY --from` look for their libraries. */
export const LIBRARIES = "RUN ldconfig";
