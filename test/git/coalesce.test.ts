import { expect, test } from "bun:test";
import { createShare } from "../../src/lib/coalesce.ts";
import { fc } from "../helpers/property.ts";

test("a caller never gets the result of a run that began before its call, and one runs at a time", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ wait: fc.nat(3), takes: fc.nat(4), fails: fc.boolean() }), { maxLength: 12 }),
      async (calls) => {
        const share = createShare<number>();
        let clock = 0;
        let running = 0;
        const asked: Promise<void>[] = [];
        for (const { wait, takes, fails } of calls) {
          for (let tick = 0; tick < wait; tick++) await Promise.resolve();
          const at = ++clock;
          const work = async () => {
            const began = ++clock;
            expect(++running).toBe(1);
            for (let tick = 0; tick < takes; tick++) await Promise.resolve();
            running--;
            if (fails) throw new RangeError(String(began));
            return began;
          };
          const answer = share("k", work).catch((error: unknown) =>
            Number(error instanceof RangeError ? error.message : Number.NaN),
          );
          asked.push(answer.then((began) => expect(began).toBeGreaterThan(at)));
        }
        await Promise.all(asked);
      },
    ),
    { numRuns: 200 },
  );
});

test("keys do not wait for each other", async () => {
  const share = createShare<string>();
  void share("a", () => new Promise(() => {}));
  expect(await share("b", async () => "b")).toBe("b");
});
