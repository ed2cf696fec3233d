import { expect } from "bun:test";
import { bridgeOf, runBare } from "../../scripts/bench/bare-docker.ts";
import { dockerAt } from "../../scripts/bench/docker.ts";
import { Report } from "../../scripts/bench/report.ts";
import { openWorkbench } from "../../scripts/bench/workbench.ts";
import { BASE_IMAGE } from "../../scripts/docker-engine.ts";
import { DRAWN_BENCHES } from "../helpers/benches.ts";
import { DOCKER } from "../helpers/docker-engine.ts";
import { needs } from "../helpers/needs.ts";

const test = needs(...DOCKER);
const host = () => process.env["DOCKER_HOST"] ?? "";

test("the peer of the docker bench runs a script in a container", async () => {
  const container = await runBare(host(), BASE_IMAGE, ["sleep", "infinity"]);
  try {
    expect(await container.run('echo "ran $WORD"', { WORD: "42" })).toContain("ran 42");
    await expect(container.run("exit 3", {})).rejects.toThrow("exited with 3");
    expect(await bridgeOf(host())).toMatch(/^[0-9]+[.][0-9.]+$/);
  } finally {
    await container.remove();
  }
});

if (DRAWN_BENCHES.includes("docker"))
  test("docker runs to its end", async () => {
    const lines: string[] = [];
    const report = new Report({ smoke: true, write: (line) => lines.push(line) });
    using bench = openWorkbench(report);
    await dockerAt(bench, host());
    expect(lines).toHaveLength(3);
  });
