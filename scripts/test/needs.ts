import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { ROOT } from "../binaries.ts";
import { PROGRAMS } from "./programs.ts";

/** The requirements of a test file, which also determine what it may run in parallel with. */
export interface Needs {
  /** The programs in `dist/`. */
  binaries: boolean;
  postgres: boolean;
  docker: boolean;
  browser: boolean;
  /** The compiled daemon. */
  agent: boolean;
  /** The variables of the compiled programs of the tests (`PROGRAMS`). */
  programs: readonly string[];
}

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"\n]+)"/g;
/** How tests refer to the compiled programs. */
const DIST = /\bdist\/|\bDIST\b|\bbinariesFolder\b/;
/** References that matter only in a run against the binaries. */
const BY_CHOICE = ["test/helpers/api.ts", "test/helpers/cli-run.ts"];

/** Reads a test and the helpers and scripts that it imports, transitively. */
export function needsOf(path: string): Needs {
  const files = new Map<string, string>();
  const waiting = [path];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file) || !/^(?:test|scripts)\/.*\.ts$/.test(file)) continue;
    const text = read(file);
    files.set(file, text);
    for (const [, name = ""] of text.matchAll(IMPORT)) waiting.push(normalize(join(dirname(file), name)));
  }
  const [docker, browser] = [
    files.has("test/helpers/docker-engine.ts"),
    files.has("test/helpers/browser.ts"),
  ];
  /** Whether it reads the variable of a compiled program. */
  const reads = (variable: string) =>
    [...files.values()].some((text) => text.includes(`process.env["${variable}"]`));
  const starts = ([file, text]: [string, string]) =>
    file.startsWith("test/") && !BY_CHOICE.includes(file) && DIST.test(text);
  return {
    // sandboxes run the binaries, and pages are built with them
    binaries: docker || browser || [...files].some(starts),
    postgres: files.has("test/helpers/postgres.ts"),
    docker,
    browser,
    agent: reads("SVC_TEST_AGENT"),
    programs: PROGRAMS.map(({ variable }) => variable).filter(reads),
  };
}

const texts = new Map<string, string>();

function read(file: string): string {
  const known = texts.get(file);
  if (known !== undefined) return known;
  // a test of imports may contain paths that do not exist
  const text = existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), "utf8") : "";
  texts.set(file, text);
  return text;
}
