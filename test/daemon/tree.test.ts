import { expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { signalProgram, timeOfDescendants } from "../../daemon/process/tree.ts";
import { temporary } from "../helpers/git-repo.ts";
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

test("a signal is for the program and what it has in its group, and not for the wrapper or another group", async () => {
  await using folder = await temporary();
  const wrapper = join(folder.path, "bwrap");
  copyFileSync("/bin/sh", wrapper);
  const program = `trap 'echo got; sleep 0.2; kill -9 $other; exit 5' TERM
(trap 'echo also; exit' TERM; echo ready; while :; do sleep 0.01; done) &
setsid sh -c 'trap "echo other" TERM; echo ready; while :; do sleep 0.01; done' &
other=$!
echo ready
wait`;
  // a shell that waits for its program, and ends with its exit status
  const child = Bun.spawn([wrapper, "-c", 'sh -c "$1"; exit $?', "sh", program], {
    stdin: "ignore",
    stdout: "pipe",
    detached: true,
  });
  let printed = "";
  const read = (async () => {
    for await (const bytes of child.stdout) printed += Buffer.from(bytes).toString();
  })();
  await until("all are ready", () => printed.split("ready").length === 4);
  await signalProgram(child.pid, "SIGTERM");
  expect(await child.exited).toBe(5);
  await read;
  expect(printed.split("\n").toSorted()).toEqual(["", "also", "got", "ready", "ready", "ready"]);
});
