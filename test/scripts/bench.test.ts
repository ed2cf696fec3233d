import { afterAll, expect, test } from "bun:test";
import { findProgram } from "../../scripts/bench/programs.ts";
import { Report } from "../../scripts/bench/report.ts";
import { BENCHES } from "../../scripts/bench/run.ts";
import { openWorkbench } from "../../scripts/bench/workbench.ts";
import { BENCH_NAMES, DRAWN_BENCHES } from "../helpers/benches.ts";
import { BUBBLEWRAP } from "../helpers/isolation.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { RUNTIME, RUNTIME_NAME } from "../helpers/runtime.ts";

const DATABASE = ["a real Postgres", POSTGRES] as const;

/** What a bench is skipped without; Docker's is in `bench-docker.test.ts`. */
const NEEDS: Readonly<Record<string, readonly [name: string, present: boolean]>> = {
  listing: DATABASE,
  search: DATABASE,
  "git-gateway": programs("nginx", "fcgiwrap"),
  proxy: BUBBLEWRAP[1] ? programs("nginx", "wrk", "curl") : BUBBLEWRAP,
  sessions: BUBBLEWRAP,
  chat: RUNTIME === null ? [RUNTIME_NAME, false] : BUBBLEWRAP,
  cli: programs("gh"),
  "long-list": DATABASE,
  webhooks: DATABASE,
  idle: DATABASE,
};

const lines: string[] = [];
const report = new Report({ smoke: true, write: (line) => lines.push(line) });
const bench = openWorkbench(report);
afterAll(() => bench[Symbol.dispose]());

test("each bench can be drawn", () => {
  expect(BENCH_NAMES).toEqual(Object.keys(BENCHES));
});

const { docker: _, ...benches } = BENCHES;
for (const [name, run] of Object.entries(benches)) {
  if (!DRAWN_BENCHES.includes(name)) continue;
  const needed = NEEDS[name];
  (needed ? needs(...needed) : test)(`${name} runs to its end, and skips nothing`, async () => {
    lines.length = 0;
    await run(bench);
    expect(lines).not.toEqual([]);
    expect(lines.filter((line) => line.includes("SKIPPED"))).toEqual([]);
  });
}

function programs(...names: string[]): readonly [name: string, present: boolean] {
  return [new Intl.ListFormat("en-GB").format(names), names.every((name) => findProgram(name) !== null)];
}
