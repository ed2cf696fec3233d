import { expect, test } from "bun:test";
import { Freeze } from "../src/lib/freeze.ts";

test("a holder waits for changes in progress, and later ones wait for the holder", async () => {
  const freeze = new Freeze();
  const events: string[] = [];
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const look = Promise.withResolvers<void>();
  const changes = [first, second].map(({ promise }, n) =>
    freeze.change(() => promise).then(() => events.push(`changed ${n}`)),
  );
  const holding = freeze.hold(async () => {
    events.push("hold");
    await look.promise;
    events.push("held");
  });
  const late = freeze.change(async () => events.push("late"));
  const next = freeze.hold(async () => events.push("hold again"));
  first.resolve();
  await changes[0];
  await Bun.sleep(0);
  expect(events).toEqual(["changed 0"]);
  second.resolve();
  await changes[1];
  await Bun.sleep(0);
  expect(events.toSorted()).toEqual(["changed 0", "changed 1", "hold"]);
  look.resolve();
  await Promise.all([holding, late, next]);
  expect(events.indexOf("held")).toBeLessThan(Math.min(events.indexOf("late"), events.indexOf("hold again")));
});

test("work that fails releases the others", async () => {
  const freeze = new Freeze();
  await expect(freeze.change(() => Promise.reject(new Error("a")))).rejects.toThrow("a");
  await expect(freeze.hold(() => Promise.reject(new Error("b")))).rejects.toThrow("b");
  expect(await freeze.hold(async () => "c")).toBe("c");
  expect(await freeze.change(async () => "d")).toBe("d");
});
