import { isReservedName } from "../environment.ts";
import * as kinds from "./kinds.ts";
import { type ListShape, nameOf, type Path, type Problem, type Table, wrong } from "./shape.ts";
import { stringOf, tableOf } from "./values.ts";

/** What is built and served from the default branch (contract: Manifest): exactly one of `run` and `static`. */
export interface ManifestApp {
  slug: string;
  name: string | null;
  enabled: boolean;
  /** Relative to the repository's root; `.` is the root. */
  rootPath: string;
  build: string | null;
  run: { command: string; port: number } | null;
  static: { dir: string } | null;
  /** Without the names that are svc's or the system's. */
  env: Readonly<Record<string, string>>;
}

/** Apps of one project: each has a sandbox that is always on. */
const APPS_MAX = 20;
/** As many as a project may have secrets. */
const VARIABLES_MAX = 200;
const ROOT = ".";

export const appsShape: ListShape = {
  is: "list",
  about: "What is built and served from the default branch.",
  itemsMax: APPS_MAX,
  item: {
    is: "table",
    about: "An app, with `[apps.run]` for a program or `[apps.static]` for files.",
    fields: {
      slug: {
        is: "value",
        kind: kinds.appSlug,
        need: "required",
        example: "web",
        about: "Its name in commands and in its address; each has its own.",
      },
      name: { is: "value", kind: kinds.name, about: "A name for people." },
      enabled: { is: "value", kind: kinds.flag, fallback: true, about: "Whether it is served." },
      source: {
        is: "table",
        about: "What it is made of.",
        fields: {
          root_path: {
            is: "value",
            kind: kinds.path,
            fallback: ROOT,
            about: "Its folder: commands run there, and only commits that change it deploy it again.",
          },
        },
      },
      build: {
        is: "table",
        about: "How it is built, before it is served.",
        fields: {
          command: {
            is: "value",
            kind: kinds.command,
            need: "required",
            example: "npm ci && npm run build",
            about: "A command for the shell.",
          },
        },
      },
      run: {
        is: "table",
        about: "The program that serves it.",
        fields: {
          command: {
            is: "value",
            kind: kinds.command,
            need: "required",
            example: "npm start",
            about: "A command for the shell that keeps running.",
          },
          port: {
            is: "value",
            kind: kinds.port,
            need: "required",
            example: 3000,
            about: "Where it listens.",
          },
        },
      },
      static: {
        is: "table",
        about: "Files that are served as they are, without a program.",
        fields: {
          dir: {
            is: "value",
            kind: kinds.path,
            need: "required",
            example: "dist",
            about: "Their folder, relative to `root_path`.",
          },
        },
      },
      env: {
        is: "variables",
        kind: kinds.variable,
        variablesMax: VARIABLES_MAX,
        about: "Environment variables of its commands.",
      },
    },
    problemsOf: problemsOfApp,
    schema: { oneOf: [{ required: ["run"] }, { required: ["static"] }] },
  },
};

function problemsOfApp(app: Table, path: Path): Problem[] {
  const [run, files] = [Object.hasOwn(app, "run"), Object.hasOwn(app, "static")];
  if (run !== files) return [];
  const both = wrong([...path, "static"], "cannot stand beside run: an app has one of the two");
  const neither = `${nameOf(path)} has to have [apps.run] with command and port, or [apps.static] with dir.`;
  return [run ? { ...both, at: "key" } : { path, at: "value", message: neither, severity: "error" }];
}

/** @param app one without errors */
export function readApp(app: Table): ManifestApp {
  const [run, files] = [tableOf(app, "run"), tableOf(app, "static")];
  const [command, dir] = [stringOf(run, "command"), stringOf(files, "dir")];
  return {
    slug: stringOf(app, "slug") ?? "",
    name: stringOf(app, "name"),
    enabled: app["enabled"] !== false,
    rootPath: stringOf(tableOf(app, "source"), "root_path") ?? ROOT,
    build: stringOf(tableOf(app, "build"), "command"),
    run: command === null ? null : { command, port: Number(run["port"]) },
    static: dir === null ? null : { dir },
    env: Object.fromEntries(
      Object.entries(tableOf(app, "env")).flatMap(([name, value]) =>
        typeof value === "string" && !isReservedName(name) ? [[name, value]] : [],
      ),
    ),
  };
}
