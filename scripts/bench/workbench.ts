import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Report } from "./report.ts";

/** The context of a benchmark: its folders and its report. */
export interface Workbench {
  report: Report;
  /** Creates an empty folder, which is removed after the run. */
  folder(name: string): string;
  /** Calls `stop` at the end of the run, also after an error. */
  atEnd(stop: () => void): void;
  /** An amount: `full` to measure, `least` in a smoke run. */
  amount(full: number, least?: number): number;
}

/** Opens a workbench in the system's temporary folder; disposing of it stops and removes everything. */
export function openWorkbench(report: Report): Workbench & Disposable {
  const root = mkdtempSync(join(tmpdir(), "svc-bench-"));
  // Postgres runs as another user if this one is root, and needs access to its folder.
  chmodSync(root, 0o711);
  const stops: (() => void)[] = [];
  let folders = 0;
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    for (const stop of stops.toReversed()) stop();
    rmSync(root, { recursive: true, force: true });
  };
  process.on("exit", close);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(1));
  return {
    report,
    folder(name) {
      const path = join(root, `${name}-${++folders}`);
      mkdirSync(path, { mode: 0o755 });
      return path;
    },
    atEnd: (stop) => stops.push(stop),
    amount: (full, least = 1) => (report.smoke ? least : full),
    [Symbol.dispose]: close,
  };
}
