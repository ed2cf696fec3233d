import { caller } from "../../test/helpers/api.ts";
import { CHROMIUM, closeBrowser } from "../../test/helpers/browser.ts";
import { signedIn } from "../../test/helpers/cookie-browser.ts";
import { data } from "./fixtures.ts";
import { devtoolsOf, profile, scroll } from "./frames.ts";
import { fastImport, git, INIT_BARE } from "./git.ts";
import { startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "scrolling";
/** The user of the bench's server. */
const EMAIL = "bench@example.com";
const FILES = 2_000;
const LINES = 100_000;
/** Processor time of a frame, in milliseconds. */
const FRAME_MS = 8;
/** Ends a hang. */
const LIMIT_MS = 120_000;

/**
 * Measures the processor time of a frame while the changes of a change request are scrolled in Chromium: 2,000 files, and a
 * file of 100,000 lines. The peer is the same patch in one `<pre>`.
 */
export async function scrolling(bench: Workbench): Promise<void> {
  if (!CHROMIUM[1]) return bench.report.skip(WHAT, "Chromium is not installed");
  const path = bench.folder("changes");
  await git(path, INIT_BARE);
  await fastImport(path, history(bench.amount(FILES, 20), bench.amount(LINES, 4_000)));
  const dataDir = bench.folder("data");
  const server = await startServer(bench, { dataDir });
  const project = await server.project(path);
  const { cookie } = await signedIn({ dataDir, call: caller(server.url, server.token) }, EMAIL);
  for (const branch of ["many", "long"]) {
    const { number } = await server.open(project, branch);
    const patch = await git(path, ["diff", `main...${branch}`]);
    const plain = Bun.serve({
      ...{ hostname: "127.0.0.1", port: 0 },
      fetch: () =>
        new Response(`<!doctype html><pre>${Bun.escapeHTML(patch)}</pre>`, {
          headers: { "Content-Type": "text/html; charset=utf-8" },
        }),
    });
    const ours = await frame(
      bench,
      `${server.url}/projects/${project.id}/change-requests/${number}?view=changes`,
      cookie,
    );
    const peer = await frame(bench, plain.url.href, null);
    await plain.stop(true);
    bench.report.ratio({
      what: `${WHAT}: ${branch === "many" ? "a change request of 2,000 files" : "a file of 100,000 lines"}`,
      unit: "ms",
      ours,
      peer: ["plain page", peer],
      bar: { atMost: Number((FRAME_MS / peer).toFixed(2)) },
    });
  }
  await closeBrowser();
  await server.stop();
}

async function frame(bench: Workbench, url: string, cookie: string | null): Promise<number> {
  const context = await profile(url, cookie);
  const page = await context.newPage();
  await page.goto(url, { timeout: LIMIT_MS });
  if (cookie !== null) {
    const line = page.locator("[data-line]").first();
    // a long file is collapsed
    const folded = page.getByRole("button", { name: "Show them" }).first();
    await line.or(folded).first().waitFor({ timeout: LIMIT_MS });
    if (!(await line.isVisible())) await folded.click();
    await line.waitFor({ timeout: LIMIT_MS });
  }
  const devtools = await devtoolsOf(page);
  const ms = await scroll(bench, page, devtools);
  await context.close();
  return ms;
}

/** A branch that changes 2,000 files, and one that adds a file of 100,000 lines. */
function history(files: number, lines: number): string[] {
  const text = (file: number, word: string) =>
    Array.from(
      { length: 40 },
      (_, line) => `export const value${line} = ${line < 12 ? word : "compute"}(${file}, "${line}");\n`,
    ).join("");
  const commit = (branch: string, from: string, changes: string[]) =>
    [
      `commit refs/heads/${branch}\ncommitter A <a@example.com> 1700000000 +0000\n`,
      data("work"),
      from,
      ...changes,
      "\n",
    ].join("");
  const each = (word: string) =>
    Array.from(
      { length: files },
      (_, file) => `M 100644 inline src/part-${file % 40}/module-${file}.ts\n${data(text(file, word))}`,
    );
  const long = Array.from(
    { length: lines },
    (_, line) => `export const value_${line} = compute(${line}, "${line * 7}");\n`,
  ).join("");
  return [
    commit("main", "", each("compute")),
    commit("many", "from refs/heads/main\n", each("calculate")),
    commit("long", "from refs/heads/main\n", [`M 100644 inline src/long.ts\n${data(long)}`]),
  ];
}
