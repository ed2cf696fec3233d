import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import tailwind from "bun-plugin-tailwind";
import type { DashboardFile } from "../src/edge/dashboard/files.ts";
import { DASHBOARD_FOLDER } from "../src/edge/dashboard/files.ts";
import { ROOT } from "./binaries.ts";
import { baseName, documentOf, filesOfPage, lazyRoutes } from "./dashboard-documents.ts";
import { digest, readStamp, writeStamp } from "./stamp.ts";

/** The inputs of the build. */
export const DASHBOARD_INPUTS = [
  ...["package.json", "bun.lock", "tsconfig.json", "scripts/dashboard.ts", "scripts/dashboard-documents.ts"],
  ...["dashboard", "src/contract", "src/conversation"],
];

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * Builds the dashboard into `DASHBOARD_FOLDER`, if its sources have changed: compressed scripts and styles with content
 * hashes in their names, and the documents that load them, one for each page. The folder is flat; `files.json` lists its
 * files.
 * @throws AggregateError with the output of the bundler
 */
export async function buildDashboard(): Promise<void> {
  const stamp = digest(DASHBOARD_INPUTS, []);
  if (readStamp("dashboard") === stamp) return;
  const built = await Bun.build({
    entrypoints: [join(ROOT, "dashboard/main.tsx")],
    target: "browser",
    // prefer the variants of packages that do not use the DOM: the others decode `&lt;` with innerHTML, which the page's
    // content security policy blocks
    conditions: ["worker"],
    splitting: true,
    minify: true,
    metafile: true,
    naming: "[name]-[hash].[ext]",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [tailwind],
  });
  const unfinished = `${DASHBOARD_FOLDER}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const files: DashboardFile[] = [];
  const add = (name: string, bytes: Uint8Array, route?: string) => {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (!type) throw new Error(`unknown media type of ${name}`);
    writeFileSync(join(unfinished, name), bytes);
    writeFileSync(join(unfinished, `${name}.br`), brotli(bytes));
    writeFileSync(join(unfinished, `${name}.gz`), gzipSync(bytes, { level: 9 }));
    files.push({ name, type, etag: `"${Bun.hash(bytes).toString(36)}"`, ...(route && { route }) });
  };
  for (const output of built.outputs) add(baseName(output.path), new Uint8Array(await output.arrayBuffer()));
  // at a path without a hash, which browsers know it by
  const worker = await Bun.build({
    entrypoints: [join(ROOT, "dashboard/service-worker.ts")],
    target: "browser",
    minify: true,
  });
  for (const output of worker.outputs) add("service-worker.js", new Uint8Array(await output.arrayBuffer()));
  add("icon.svg", await Bun.file(join(ROOT, "dashboard/icon.svg")).bytes());
  const isEntry = ({ kind }: Bun.BuildArtifact) => kind === "entry-point";
  const script = built.outputs.find(isEntry)?.path;
  const style = files.find(({ type }) => type.startsWith("text/css"))?.name;
  if (!script || !style || !built.metafile)
    throw new Error("the build of the dashboard has no script, no style sheet or no list of its files");
  const { metafile } = built;
  const main = { script: baseName(script), style };
  add("index.html", Buffer.from(documentOf(main, { pattern: "", modules: [] })));
  for (const [index, { pattern, source }] of lazyRoutes().entries()) {
    const modules = filesOfPage(metafile, source);
    add(`page-${index}.html`, Buffer.from(documentOf(main, { pattern, modules })), pattern);
  }
  writeFileSync(join(unfinished, "files.json"), JSON.stringify(files));
  rmSync(DASHBOARD_FOLDER, { recursive: true, force: true });
  renameSync(unfinished, DASHBOARD_FOLDER);
  writeStamp("dashboard", stamp);
}

function brotli(bytes: Uint8Array): Buffer {
  return brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length, [constants.BROTLI_PARAM_QUALITY]: 11 },
  });
}
