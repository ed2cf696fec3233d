import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createLocalProvider, type LocalOptions } from "../../src/sandboxes/local/local.ts";
import type { Provider } from "../../src/sandboxes/provider.ts";
import { type ApiStandIn, optionsOf } from "./sandbox-bench.ts";

/** Providers of local sandboxes, each with a data folder of its own. */
export interface LocalSandboxes {
  make(changes?: Partial<LocalOptions>): { provider: Provider; options: LocalOptions };
  /** Closes them and removes their data folders. @returns the sandboxes that they left */
  close(): Promise<string[]>;
}

/** @param usual what all of them are made with, unless a test says otherwise */
export function localSandboxes(
  api: ApiStandIn,
  binaries: string,
  usual: Pick<LocalOptions, "isolation" | "orphanS">,
): LocalSandboxes {
  const made: { provider: Provider; options: LocalOptions }[] = [];
  return {
    make(changes = {}) {
      const options: LocalOptions = { ...optionsOf(api, binaries), ...usual, ...changes };
      mkdirSync(join(options.dataDir, "sandboxes"), { recursive: true });
      const provider = createLocalProvider(options);
      made.push({ provider, options });
      return { provider, options };
    },
    async close() {
      for (const { provider } of made) await provider.close();
      const left = made.flatMap(({ options }) => readdirSync(join(options.dataDir, "sandboxes")));
      for (const { options } of made) rmSync(options.dataDir, { recursive: true, force: true });
      return left;
    },
  };
}
