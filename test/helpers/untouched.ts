import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type GatewayBench, refsOf, runClient } from "./gateway.ts";
import { until } from "./until.ts";

/** Expects that nothing has changed, nothing is left behind, and the next client is served. */
export async function expectUntouched(
  bench: GatewayBench,
  folder: string,
  refs: Record<string, string>,
): Promise<void> {
  expect(await refsOf(bench.hosted.directory)).toEqual(refs);
  const temporary = join(bench.api.dataDir, "git", "temporary");
  await until("nothing is left", () => readdirSync(temporary).length === 0);
  const url = bench.url(bench.hosted, bench.api.token);
  expect(await runClient(folder, "ls-remote", url)).toMatchObject({ code: 0 });
}
