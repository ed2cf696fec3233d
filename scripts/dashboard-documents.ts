import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./binaries.ts";

/** A route of the dashboard, and the source of the page that it shows. */
interface Route {
  /** A pattern of the router, such as `/projects/:projectId/secrets`. */
  pattern: string;
  /** Relative to the root of the sources. */
  source: string;
}

const APP = "dashboard/app.tsx";
const LAZY = /const (\w+) = lazyPage\(\s*async \(\) => \(await import\("([^"]+)"\)\)/g;
const ROUTE = /<Route path="([^"]+)"(?: component=\{(\w+)\}|>\s*\{[^<]*<(\w+))/g;

/**
 * The routes whose code is loaded when they are shown, read from the source of the router.
 * @throws Error if it has none that this recognizes
 */
export function lazyRoutes(): Route[] {
  const app = readFileSync(join(ROOT, APP), "utf8");
  const sources = new Map(
    [...app.matchAll(LAZY)].map(([, name = "", path = ""]) => [name, join(dirname(APP), path)]),
  );
  const routes = [...app.matchAll(ROUTE)].flatMap(([, pattern = "", direct = "", inside = ""]) => {
    const source = sources.get(direct || inside);
    return source === undefined ? [] : [{ pattern, source }];
  });
  if (routes.length === 0) throw new Error(`${APP} has no routes with lazyPage`);
  return routes;
}

/** What this reads of the bundler's metafile. */
export interface Chunks {
  outputs: Record<string, { imports: { path: string; kind: string }[]; entryPoint?: string }>;
}

/**
 * The files that a page loads before it is shown, without the main one: its own, and all that it imports statically.
 * @throws Error if the build has no file for this source
 */
export function filesOfPage({ outputs }: Chunks, source: string): string[] {
  const own = Object.keys(outputs).find(
    (name) => outputs[name]?.entryPoint === source && name.endsWith(".js"),
  );
  if (own === undefined) throw new Error(`the build of the dashboard has no file for ${source}`);
  const found = new Set([own]);
  for (const name of found)
    for (const { path, kind } of outputs[name]?.imports ?? [])
      if (kind === "import-statement") found.add(path);
  return [...found].filter((name) => outputs[name]?.entryPoint !== "dashboard/main.tsx").map(baseName);
}

/** The pages without the header of the others. */
const WITHOUT_HEADER = /^\/(?:login|sign-up|welcome|cli\/authorize)$/;
/** What the header begins with (`dashboard/layout/shell.tsx`), until the script has drawn all of it. */
const HEADER = `<header class="border-line border-b bg-surface">
<div class="mx-auto flex min-h-13 max-w-7xl items-center px-4">
<span class="flex items-center gap-2 font-semibold text-lg"><img src="/assets/icon.svg" alt="" class="size-7">svc</span>
</div>
</header>`;

/**
 * The document of a page.
 * @param modules the files that the page loads next, beside the main one
 */
export function documentOf(
  { script, style }: { script: string; style: string },
  { pattern, modules }: { pattern: string; modules: readonly string[] },
): string {
  // after the main file, which runs first
  const preloads = modules.map(
    (name) => `<link rel="modulepreload" href="/assets/${name}" fetchpriority="low">\n`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="svc runs coding agents on your repositories and merges their work when you approve it.">
<title>svc</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/${style}">
<script type="module" src="/assets/${script}"></script>
${preloads.join("")}</head>
<body>
<div id="root">${WITHOUT_HEADER.test(pattern) ? "" : HEADER}</div>
<noscript>svc's dashboard needs JavaScript. Without it, use the command line: svc --help</noscript>
</body>
</html>
`;
}

/** Without the folder. */
export const baseName = (path: string): string => path.replace(/^.*\//, "");
