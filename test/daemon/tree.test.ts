import { expect, test } from "bun:test";
import { timeOfDescendants } from "../../daemon/process/tree.ts";
import { until } from "../helpers/until.ts";

test("the processor time of descendants grows while one of them works, and not while all wait", async () => {
  // the worker is a grandchild: its parent only waits
  const child = Bun.spawn(
    ["sh", "-c", "(while read -r line; do i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; done) | cat"],
    {
      stdin: "pipe",
      stdout: "ignore",
    },
  );
  try {
    await until("they have started", async () => (await timeOfDescendants(process.pid)) >= 0);
    const before = await timeOfDescendants(child.pid);
    await Bun.sleep(0);
    expect((await timeOfDescendants(child.pid)) - before).toBeLessThan(100);
    await until("it has worked", async () => {
      child.stdin.write("work\n");
      await child.stdin.flush();
      return (await timeOfDescendants(child.pid)) - before >= 100;
    });
    expect(await timeOfDescendants(process.pid)).toBeGreaterThanOrEqual(100);
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
});
