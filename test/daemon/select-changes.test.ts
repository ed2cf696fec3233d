import { expect, test } from "bun:test";
import { createExcluded } from "../../daemon/saved/excluded.ts";
import { selectChanges } from "../../daemon/saved/select-changes.ts";
import type { Change } from "../../daemon/saved/workspace-status.ts";

const MIB = 1024 * 1024;

/** A new file that is not staged. */
const change = (path: string, size: number, more: Partial<Change> = {}): Change => ({
  ...{ path, size, isNew: true, isUnstaged: true, isGone: false, inner: "no" as const },
  ...more,
});

function select(...changes: Change[]) {
  const excluded = createExcluded(() => false);
  const { included, removed } = selectChanges(changes, excluded);
  return { included: included.map(({ path }) => path), removed, excluded: excluded.lines() };
}

test("new files of up to 50 MiB are saved, and larger ones of the repository", () => {
  const old = { isNew: false };
  expect(select(change("at", 50 * MIB), change("over", 50 * MIB + 1), change("old", 51 * MIB, old))).toEqual({
    included: ["old", "at"],
    removed: [],
    excluded: ["  over: a new file of more than 50 MiB"],
  });
});

test("up to 256 MiB are saved in total, of files of the repository first", () => {
  const old = { isNew: false };
  const changes = [change("new", 6 * MIB), change("more", 1), change("one", 200 * MIB, old)];
  expect(select(...changes, change("two", 50 * MIB, old))).toEqual({
    included: ["one", "two", "new"],
    removed: [],
    excluded: ["  more: the changed files have more than 256 MiB in total"],
  });
});

test("what is staged takes nothing of the total; a staged file with credentials is removed", () => {
  const staged = { isUnstaged: false };
  expect(select(change("staged", 300 * MIB, staged), change("key.pem", 1, staged), change("a", 1))).toEqual({
    included: ["a"],
    removed: ["key.pem"],
    excluded: ["  key.pem: its name is that of a file with credentials"],
  });
});
