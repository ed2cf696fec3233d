import { expect, test } from "bun:test";
import { StartQueue } from "../../src/features/runs/start-queue.ts";
import { fc } from "../helpers/property.ts";

const never = new AbortController().signal;

test("as many as there are places start at once, the others in their order, told who is before them", async () => {
  const queue = new StartQueue(2);
  const told: Record<string, number[]> = { a: [], b: [], c: [], d: [], e: [] };
  const entered: string[] = [];
  const enter = (name: string, signal = never) =>
    queue
      .enter(signal, (before) => told[name]?.push(before))
      .then((leave) => {
        entered.push(name);
        return leave;
      });
  const [a, b] = [await enter("a"), await enter("b")];
  const c = enter("c");
  const left = new AbortController();
  const d = enter("d", left.signal);
  const e = enter("e");
  expect(entered).toEqual(["a", "b"]);
  left.abort(new Error("stopped"));
  expect(d).rejects.toThrow("stopped");
  a();
  a();
  await c;
  expect(entered).toEqual(["a", "b", "c"]);
  b();
  await e;
  expect(told).toEqual({ a: [], b: [], c: [0], d: [1], e: [2, 1, 0] });
  const aborted = AbortSignal.abort(new Error("stopped"));
  expect(queue.enter(aborted, () => {})).rejects.toThrow("stopped");
});

test("whatever starts, ends and leaves: no place is lost, and none is given twice", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.constantFrom("enter", "leave", "abort"), { maxLength: 40 }),
      async (size, steps) => {
        const queue = new StartQueue(size);
        const held: (() => void)[] = [];
        const waiting: AbortController[] = [];
        for (const step of steps) {
          if (step === "enter") {
            const controller = new AbortController();
            waiting.push(controller);
            queue
              .enter(controller.signal, () => {})
              .then(
                (leave) => {
                  waiting.splice(waiting.indexOf(controller), 1);
                  held.push(leave);
                },
                () => waiting.splice(waiting.indexOf(controller), 1),
              );
          } else if (step === "leave") held.shift()?.();
          else waiting.at(-1)?.abort();
          await Bun.sleep(0);
          expect(held.length).toBeLessThanOrEqual(size);
          if (waiting.length > 0) expect(held.length).toBe(size);
        }
      },
    ),
  );
});
