import { expect } from "bun:test";
import { dockerAt } from "../../scripts/bench/docker.ts";
import { Report } from "../../scripts/bench/report.ts";
import { openWorkbench } from "../../scripts/bench/workbench.ts";
import { DOCKER } from "../helpers/docker-engine.ts";
import { needs } from "../helpers/needs.ts";

needs(...DOCKER)("docker runs to its end", async () => {
  const lines: string[] = [];
  const report = new Report({ smoke: true, write: (line) => lines.push(line) });
  using bench = openWorkbench(report);
  await dockerAt(bench, process.env["DOCKER_HOST"] ?? "");
  expect(lines).toHaveLength(3);
});
