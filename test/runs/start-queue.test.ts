import { expect, test } from "bun:test";
import { StartQueue } from "../../src/features/runs/start-queue.ts";
import { fc } from "../helpers/property.ts";

const never = new AbortController().signal;

function openQueue(size: number) {
  /** The run ids of those that wait, in their order, and what each was told last. */
  let order: string[] = [];
  const queue = new StartQueue(size, (places) => {
    order = places.map(({ runId }) => runId);
    const length = places.length;
    expect(places.map(({ position, length }) => [position, length])).toEqual(
      order.map((_, index) => [index + 1, length]),
    );
  });
  const entered: string[] = [];
  const leaves = new Map<string, () => void>();
  const told: Record<string, string> = {};
  /** The first letter of a run is its project. */
  const enter = (runId: string, signal = never) =>
    queue
      .enter({ runId, projectId: runId.slice(0, 1) }, signal, ({ position, length }) => {
        told[runId] = `${position} of ${length}`;
      })
      .then((leave) => {
        entered.push(runId);
        leaves.set(runId, leave);
      });
  return { enter, entered, leaves, told, order: () => order };
}

test("as many as there are slots start at once, the others wait and are told their places", async () => {
  const { enter, entered, leaves, told, order } = openQueue(2);
  await Promise.all([enter("a1"), enter("a2")]);
  const left = new AbortController();
  const [a3, a4, a5] = [enter("a3"), enter("a4", left.signal), enter("a5")];
  expect([entered, told]).toEqual([["a1", "a2"], { a3: "1 of 1", a4: "2 of 2", a5: "3 of 3" }]);
  left.abort(new Error("stopped"));
  expect(a4).rejects.toThrow("stopped");
  expect(order()).toEqual(["a3", "a5"]);
  // a slot is given back once
  leaves.get("a1")?.();
  leaves.get("a1")?.();
  await a3;
  expect([entered, order()]).toEqual([["a1", "a2", "a3"], ["a5"]]);
  leaves.get("a2")?.();
  await a5;
  expect(enter("a6", AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
});

test("projects take turns: one that starts many delays only its own", async () => {
  const { enter, entered, leaves, told, order } = openQueue(2);
  for (const name of ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"]) void enter(name);
  await Bun.sleep(0);
  expect(entered).toEqual(["a1", "a2"]);
  expect(order()).toEqual(["b1", "c1", "b2", "a3", "a4", "a5"]);
  expect([told["b1"], told["c1"]]).toEqual(["1 of 4", "2 of 6"]);
  for (const done of ["a1", "a2", "b1", "c1", "b2", "a3"]) {
    leaves.get(done)?.();
    await Bun.sleep(0);
  }
  expect(entered).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4", "a5"]);
});

test("a project with one start is not behind all those of two others", async () => {
  const { enter, entered, leaves } = openQueue(2);
  for (let index = 1; index <= 20; index++)
    for (const project of ["a", "b"]) void enter(`${project}${index}`);
  void enter("c1");
  await Bun.sleep(0);
  for (let ended = 0; !entered.includes("c1"); ended++) {
    leaves.get(entered[ended] ?? "")?.();
    await Bun.sleep(0);
  }
  expect(entered.length).toBeLessThanOrEqual(4);
});

test("whatever starts, ends and leaves: no slot is lost, none is given twice, and everyone starts", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("enter" as const), project: fc.constantFrom("a", "b", "c") }),
    fc.constant({ kind: "leave" as const }),
    fc.constant({ kind: "abort" as const }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(step, { maxLength: 40 }),
      async (size, steps) => {
        const { enter, entered, leaves } = openQueue(size);
        const waiting = new Map<string, AbortController>();
        const leaveFirst = () => {
          const [first] = leaves;
          first?.[1]();
          if (first) leaves.delete(first[0]);
        };
        for (const [index, each] of steps.entries()) {
          if (each.kind === "enter") {
            const controller = new AbortController();
            const runId = `${each.project}${index}`;
            waiting.set(runId, controller);
            const over = () => void waiting.delete(runId);
            enter(runId, controller.signal).then(over, over);
          } else if (each.kind === "leave") leaveFirst();
          else [...waiting.values()].at(-1)?.abort();
          await Bun.sleep(0);
          expect(leaves.size).toBeLessThanOrEqual(size);
          if (waiting.size > 0) expect(leaves.size).toBe(size);
        }
        for (let left = waiting.size + leaves.size; left > 0; left--) {
          leaveFirst();
          await Bun.sleep(0);
        }
        expect([waiting.size, leaves.size, new Set(entered).size]).toEqual([0, 0, entered.length]);
      },
    ),
  );
});
