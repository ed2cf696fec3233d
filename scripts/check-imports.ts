import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { ROOT } from "./binaries.ts";
import { findCircles } from "./circles.ts";
import { sourceFiles } from "./sources.ts";

/**
 * The parts of the tree, lowest first; those of one line stand beside each other. A file may import its own part and
 * the lines above its own. A part is a folder (ending in `/`) or a file.
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
  ["src/git/", "src/jobs/", "src/events/", "src/sandboxes/", "src/http/"],
  ["src/deps.ts", "src/open.ts"],
  ["src/identity/auth/"],
  ["src/identity/device/"],
  ["src/identity/accounts/", "src/features/projects/"],
  ["src/identity/sign-in/"],
  ["src/features/secrets/", "src/features/manifest/"],
  ["src/features/runs/", "src/features/saved-work/"],
  ["src/features/sessions/", "src/edge/gateway/", "src/features/repository/"],
  ["src/features/change-requests/"],
  ["src/features/triggers/", "src/features/apps/"],
  ["src/edge/proxy/", "src/edge/dashboard/", "src/edge/admin/"],
  ["src/edge/metrics-page.ts"],
  ["src/app.ts", "src/arguments.ts"],
  ["src/listen.ts"],
  ["src/serve.ts"],
  ["src/main.ts"],
  ["cli/", "daemon/", "dashboard/"],
];

/** Parts that may use less than what is below them. */
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

/** The files that know which database there is, and what they alone import. */
const KNOW_DRIVERS = ["db/client.ts", "db/listen.ts", "db/migrate.ts", "src/jobs/queue.ts"];
const LIST = new Intl.ListFormat("en-GB", { type: "conjunction" });
const DRIVER =
  /^(postgres|pg|pg-boss|@electric-sql\/pglite|drizzle-orm\/(postgres-js|pglite|node-postgres|bun-sql))(\/|$)/;

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*(["'])([^"'\n]+)\1/g;
const COMMENT = /^\s*(?:\/\/|\*|\/\*).*$/gm;
const TRANSPILER = { ts: new Bun.Transpiler({ loader: "ts" }), tsx: new Bun.Transpiler({ loader: "tsx" }) };

if (import.meta.main) {
  const problems = [...checkImports(process.argv[2] ?? ROOT), ...missingParts()];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}

/** The parts of the order that have no files any more. */
function missingParts(): string[] {
  const files = sourceFiles(ROOT);
  return ORDER.flat()
    .filter((part) => !files.some((file) => partOf(file) === part))
    .map((part) => `scripts/check-imports.ts names ${part}, which does not exist`);
}

/** @returns one line for each import that goes the wrong way, naming both files, and one for each circle. */
export function checkImports(root: string): string[] {
  const files = sourceFiles(root).filter((file) => !/^(scripts|test)\//.test(file));
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
  const loads = new Map([...texts].map(([file, text]) => [file, loadedWith(file, text)]));
  return [
    ...files
      .filter((file) => partOf(file) === null)
      .map((file) => `${file} has no place in the order of scripts/check-imports.ts: give it one`),
    ...[...texts].flatMap(([file, text]) =>
      importsOf(file, text).flatMap((target) => problemOf(file, target) ?? []),
    ),
    ...findCircles(loads).map((circle) => `a circle of imports: ${circle.join(" → ")}`),
  ];
}

/** All that a file names, types too: files as paths from the root, packages by their names. */
function importsOf(file: string, text: string): string[] {
  return [...text.replace(COMMENT, "").matchAll(IMPORT)].map(([, , name = ""]) => resolve(file, name));
}

/** What is loaded before the file itself runs: neither types nor what it asks for later. */
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
    return KNOW_DRIVERS.includes(file)
      ? null
      : `${file} imports ${target}: only ${LIST.format(KNOW_DRIVERS)} name a database driver`;
  }
  if (/^(scripts|test)\//.test(target)) return `${file} imports ${target}: that is no part of the product`;
  const [from, to] = [partOf(file), partOf(target)];
  if (from === null || to === null || from === to) return null;
  if (/^src\/.*\/routes\.ts$/.test(target) && file !== "src/app.ts") {
    return `${file} imports ${target}: only src/app.ts mounts routes; call the verb`;
  }
  const only = ONLY[from];
  if (only && !only.includes(to)) {
    return `${file} imports ${target}: ${from} may use ${only.length > 0 ? LIST.format(only) : "nothing of the rest"}`;
  }
  if (rankOf(to) < rankOf(from)) return null;
  const where = rankOf(to) === rankOf(from) ? "stands beside" : "stands above";
  return `${file} imports ${target}: ${to} ${where} ${from}`;
}

function partOf(path: string): string | null {
  return ORDER.flat().find((part) => (part.endsWith("/") ? path.startsWith(part) : path === part)) ?? null;
}

function rankOf(part: string): number {
  return ORDER.findIndex((line) => line.includes(part));
}
