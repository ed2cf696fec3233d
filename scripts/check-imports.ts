import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { ROOT } from "./binaries.ts";
import { findCycles } from "./cycles.ts";
import { sourceFiles } from "./sources.ts";

/**
 * The layers of the source tree, lowest first. A file may import its own part and the parts of lower layers. A part is a
 * folder (with a trailing `/`) or a file.
 */
const ORDER: readonly (readonly string[])[] = [
  ["src/contract/", "src/splice/"],
  ["src/conversation/", "src/config/"],
  [
    "db/",
    "src/lib/",
    "src/metrics.ts",
    "src/data-folder.ts",
    "src/keys.ts",
    "src/config.ts",
    "src/signals.ts",
  ],
  ["src/git/", "src/jobs/", "src/events/", "src/models/", "src/sandboxes/", "src/http/"],
  ["src/deps.ts", "src/open.ts"],
  ["src/backup/"],
  ["src/identity/auth/"],
  ["src/identity/device/"],
  ["src/identity/accounts/", "src/features/projects/"],
  ["src/identity/sign-in/", "src/identity/audit/"],
  // webhooks and timelines record the events of every feature above them
  [
    "src/features/secrets/",
    "src/features/manifest/",
    "src/features/webhooks/",
    "src/features/models/",
    "src/features/timeline/",
  ],
  // notifications are of the features above them
  [
    "src/features/runs/",
    "src/features/saved-work/",
    "src/features/connectors/",
    "src/features/notifications/",
  ],
  ["src/features/sessions/", "src/edge/gateway/", "src/features/repository/"],
  ["src/features/checks/"],
  ["src/features/change-requests/"],
  [
    "src/features/triggers/",
    "src/features/apps/",
    "src/features/channels/",
    "src/features/tries/",
    "src/features/inbox/",
    "src/features/network/",
  ],
  ["src/edge/proxy/", "src/edge/dashboard/", "src/edge/releases/", "src/edge/admin/", "src/edge/executor/"],
  ["src/edge/metrics-page.ts"],
  ["src/app.ts", "src/arguments.ts"],
  ["src/listen.ts"],
  ["src/serve.ts"],
  ["src/main.ts"],
  ["cli/", "daemon/", "dashboard/"],
];

/** Parts that may import only some of the lower layers. */
const ONLY: Readonly<Record<string, readonly string[]>> = {
  "src/contract/": [],
  "src/splice/": [],
  "src/conversation/": ["src/contract/"],
  "db/": ["src/contract/"],
  "src/lib/": ["src/contract/"],
  "src/git/": ["src/contract/", "src/lib/"],
  "cli/": ["src/contract/", "src/conversation/"],
  "daemon/": ["src/contract/", "src/splice/"],
  "dashboard/": ["src/contract/", "src/conversation/"],
};

/** The only files that may import a database driver. */
const DRIVER_IMPORTERS = ["db/client.ts", "db/listen.ts", "db/migrate.ts", "src/jobs/queue.ts"];
const LIST = new Intl.ListFormat("en-GB", { type: "conjunction" });
const DRIVER =
  /^(postgres|pg|pg-boss|@electric-sql\/pglite|drizzle-orm\/(postgres-js|pglite|node-postgres|bun-sql))(\/|$)/;

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*(["'])([^"'\n]+)\1/g;
const COMMENT = /^\s*(?:\/\/|\*|\/\*).*$/gm;
const TRANSPILER = { ts: new Bun.Transpiler({ loader: "ts" }), tsx: new Bun.Transpiler({ loader: "tsx" }) };

if (import.meta.main) {
  const problems = [...checkImports(process.argv[2] ?? ROOT), ...missingPaths()];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}

/** The paths in this file that do not exist. */
function missingPaths(): string[] {
  const files = sourceFiles(ROOT);
  const named = [...ORDER.flat(), ...Object.entries(ONLY).flat(2), ...DRIVER_IMPORTERS];
  return [...new Set(named)]
    .filter((path) => !files.some((file) => (path.endsWith("/") ? file.startsWith(path) : file === path)))
    .map((path) => `scripts/check-imports.ts lists ${path}, which does not exist`);
}

/** @returns one line for each forbidden import, with both files, and one for each import cycle */
export function checkImports(root: string): string[] {
  const files = sourceFiles(root).filter((file) => !/^(scripts|test)\//.test(file));
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
  const loads = new Map([...texts].map(([file, text]) => [file, loadedWith(file, text)]));
  return [
    ...files
      .filter((file) => partOf(file) === null)
      .map((file) => `${file} is in no layer: add its folder to ORDER in scripts/check-imports.ts`),
    ...[...texts].flatMap(([file, text]) =>
      importsOf(file, text).flatMap((target) => problemOf(file, target) ?? []),
    ),
    ...findCycles(loads).map((cycle) => `import cycle: ${cycle.join(" → ")}`),
  ];
}

/** All imports of a file, including types: files as paths from the root, packages by name. */
function importsOf(file: string, text: string): string[] {
  return [...text.replace(COMMENT, "").matchAll(IMPORT)].map(([, , name = ""]) => resolve(file, name));
}

/** The imports that are loaded before the file runs: neither types nor dynamic imports. */
function loadedWith(file: string, text: string): string[] {
  return TRANSPILER[file.endsWith("x") ? "tsx" : "ts"]
    .scanImports(text)
    .filter(({ kind }) => kind === "import-statement")
    .map(({ path }) => resolve(file, path));
}

function resolve(file: string, name: string): string {
  return name.startsWith(".") ? normalize(join(dirname(file), name)) : name;
}

function problemOf(file: string, target: string): string | null {
  if (DRIVER.test(target)) {
    return DRIVER_IMPORTERS.includes(file)
      ? null
      : `${file} imports ${target}: only ${LIST.format(DRIVER_IMPORTERS)} may import a database driver`;
  }
  if (/^(scripts|test)\//.test(target)) return `${file} imports ${target}, which is not part of the product`;
  const [from, to] = [partOf(file), partOf(target)];
  if (from === null || to === null || from === to) return null;
  if (/^src\/.*\/routes\.ts$/.test(target) && file !== "src/app.ts") {
    return `${file} imports ${target}: only src/app.ts may import routes; call the function behind the route`;
  }
  const only = ONLY[from];
  if (only && !only.includes(to)) {
    return `${file} imports ${target}: ${from} may import ${only.length > 0 ? `only ${LIST.format(only)}` : "no other part"}`;
  }
  if (rankOf(to) < rankOf(from)) return null;
  const where = rankOf(to) === rankOf(from) ? "is in the same layer as" : "is in a higher layer than";
  return `${file} imports ${target}: ${to} ${where} ${from}`;
}

function partOf(path: string): string | null {
  return ORDER.flat().find((part) => (part.endsWith("/") ? path.startsWith(part) : path === part)) ?? null;
}

function rankOf(part: string): number {
  return ORDER.findIndex((line) => line.includes(part));
}
