import { expect, test } from "bun:test";
import fc from "fast-check";
import { STATUS_STATES, type StatusState } from "../../src/contract/commit-status.ts";
import { stateOf } from "../../src/features/checks/statuses.ts";
import { summaryOf } from "../../src/features/checks/summary.ts";

const of = (states: Record<string, StatusState>) =>
  Object.entries(states).map(([context, state]) => ({ sha: "a", context, state }));

test.each<[states: StatusState[], combined: string]>([
  [[], "pending"],
  [["success"], "success"],
  [["success", "success"], "success"],
  [["success", "pending"], "pending"],
  [["pending"], "pending"],
  [["success", "failure", "pending"], "failure"],
  [["error", "success"], "failure"],
  [["pending", "error"], "failure"],
])("the combined state of %j is %s, as GitHub combines them", (states, combined) => {
  expect<string>(stateOf(states)).toBe(combined);
});

test.each<[states: Record<string, StatusState>, required: string[], state: string]>([
  [{}, [], "none"],
  [{}, ["test"], "pending"],
  [{ lint: "success" }, ["test"], "pending"],
  [{ lint: "failure" }, ["test"], "failure"],
  [{ test: "success" }, ["test"], "success"],
  [{ test: "success" }, [], "success"],
  [{ test: "success", lint: "pending" }, ["test"], "pending"],
  [{ Test: "success" }, ["test"], "pending"],
])("the checks %j, with %j required, are %s", (states, required, state) => {
  expect<string>(summaryOf(of(states), { requiredChecks: required }).state).toBe(state);
});

test("every check is counted once, and required ones have the state that was reported", () => {
  const states = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom(...STATUS_STATES));
  const required = fc.uniqueArray(fc.constantFrom("a", "b", "e"));
  fc.assert(
    fc.property(states, required, (reported, requiredChecks) => {
      const summary = summaryOf(of(reported), { requiredChecks });
      expect(summary.total).toBe(Object.keys(reported).length);
      expect(summary.passed + summary.failed + summary.pending).toBe(summary.total);
      expect(summary.passed).toBe(Object.values(reported).filter((state) => state === "success").length);
      expect(summary.required).toEqual(
        requiredChecks.map((context) => ({ context, state: reported[context] ?? null })),
      );
      const isReady = summary.total === summary.passed && summary.required.every(({ state }) => state);
      expect(summary.state === "success" || summary.state === "none").toBe(isReady);
    }),
  );
});
