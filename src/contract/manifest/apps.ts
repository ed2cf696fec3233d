import { isReservedName } from "../environment.ts";
import * as kinds from "./kinds.ts";
import { type ListShape, nameOf, type Path, type Problem, type Table, wrong } from "./shape.ts";
import { stringOf, tableOf } from "./values.ts";

/** An app that is deployed from the default branch (contract: Manifest), with exactly one of `run` and `static`. */
export interface ManifestApp {
  slug: string;
  name: string | null;
  enabled: boolean;
  /** Who may open it: the members of the project's account, or everybody. */
  access: "members" | "public";
  /** Whether open change requests have previews of it. Absent in entries that earlier versions of svc stored. */
  previews?: boolean;
  /** Relative to the root of the repository; `.` is the root. */
  rootPath: string;
  build: string | null;
  /** `volume`: where the directory that outlives its deployments is mounted; absent: it has none. */
  run: { command: string; port: number; volume?: string } | null;
  static: { dir: string } | null;
  /** The path that must return a 2xx status; null: any status below 500 of `/`. */
  health: { path: string } | null;
  /** Without reserved names. */
  env: Readonly<Record<string, string>>;
}

/** Apps of one project. Each has a sandbox that is always on. */
const APPS_MAX = 20;
/** The same as the limit of secrets in a project. */
const VARIABLES_MAX = 200;
const ROOT = ".";

export const appsShape: ListShape = {
  is: "list",
  about: "Apps that svc deploys from the default branch.",
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
        about: "Its name in commands and in its URL, unique in the project.",
      },
      name: { is: "value", kind: kinds.name, about: "A display name." },
      enabled: { is: "value", kind: kinds.flag, fallback: true, about: "Whether it is served." },
      access: {
        is: "value",
        kind: kinds.appAccess,
        fallback: "members",
        about: "Who may open it: the `members` of the project's account, or everybody (`public`).",
      },
      previews: {
        is: "value",
        kind: kinds.flag,
        fallback: false,
        about:
          "Whether each open change request gets a preview of it. The default branch decides; the entry itself is that of the change request.",
      },
      source: {
        is: "table",
        about: "Its source.",
        fields: {
          root_path: {
            is: "value",
            kind: kinds.path,
            fallback: ROOT,
            about: "Its folder. Commands run there, and only commits that change it redeploy it.",
          },
        },
      },
      build: {
        is: "table",
        about: "How to build it.",
        fields: {
          command: {
            is: "value",
            kind: kinds.command,
            need: "required",
            example: "npm ci && npm run build",
            about: "A shell command.",
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
            about: "A shell command that keeps running.",
          },
          port: {
            is: "value",
            kind: kinds.port,
            need: "required",
            example: 3000,
            about: "The port that it listens on.",
          },
          volume: {
            is: "value",
            kind: kinds.volume,
            example: "/data",
            about: "A directory for data that outlives deployments, mounted at this path.",
          },
        },
      },
      health: {
        is: "table",
        about: "When the program is healthy. Without it, any status below 500 for `/` will do.",
        fields: {
          path: {
            is: "value",
            kind: kinds.healthPath,
            need: "required",
            example: "/healthz",
            about:
              "A path that returns a status from 200 to 299: until then a new deployment gets no requests. Later, three failures in a row restart the program.",
          },
        },
      },
      static: {
        is: "table",
        about: "Static files that are served without a program.",
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
    schema: { oneOf: [{ required: ["run"] }, { required: ["static"], not: { required: ["health"] } }] },
  },
};

function problemsOfApp(app: Table, path: Path): Problem[] {
  const [run, files] = [Object.hasOwn(app, "run"), Object.hasOwn(app, "static")];
  const needsRun = wrong([...path, "health"], "needs [apps.run]: static files have no health");
  if (files && !run && Object.hasOwn(app, "health")) return [{ ...needsRun, at: "key" }];
  if (run !== files) return [];
  const both = wrong([...path, "static"], "cannot be used with run: an app has only one of them");
  const neither = `${nameOf(path)} must have [apps.run] with command and port, or [apps.static] with dir.`;
  return [run ? { ...both, at: "key" } : { path, at: "value", message: neither, severity: "error" }];
}

/** Whether an entry lets everybody open its app. Stored entries of earlier versions have no `access`. */
export function isPublicEntry({ enabled, access }: Pick<ManifestApp, "enabled" | "access">): boolean {
  return enabled && access === "public";
}

/** @param app a valid one */
export function readApp(app: Table): ManifestApp {
  const [run, files] = [tableOf(app, "run"), tableOf(app, "static")];
  const [command, volume] = [stringOf(run, "command"), stringOf(run, "volume")];
  const dir = stringOf(files, "dir");
  const healthPath = stringOf(tableOf(app, "health"), "path");
  return {
    slug: stringOf(app, "slug") ?? "",
    name: stringOf(app, "name"),
    enabled: app["enabled"] !== false,
    access: app["access"] === "public" ? "public" : "members",
    previews: app["previews"] === true,
    rootPath: stringOf(tableOf(app, "source"), "root_path") ?? ROOT,
    build: stringOf(tableOf(app, "build"), "command"),
    run: command === null ? null : { command, port: Number(run["port"]), ...(volume !== null && { volume }) },
    static: dir === null ? null : { dir },
    health: healthPath === null ? null : { path: healthPath },
    env: Object.fromEntries(
      Object.entries(tableOf(app, "env")).flatMap(([name, value]) =>
        typeof value === "string" && !isReservedName(name) ? [[name, value]] : [],
      ),
    ),
  };
}
