import { expect, test } from "bun:test";
import { createChangeCounter } from "../../src/git/diff/tree-changes.ts";
import { GIT_LIMITS } from "../../src/git/run/limits.ts";
import { idOf, treeOf } from "../helpers/pack.ts";
import { fc } from "../helpers/property.ts";

/** Files by their paths; a folder is what a path says. */
type Files = Readonly<Record<string, string>>;

const NAME = fc.constantFrom("a", "b", "c");
const FILES = fc.dictionary(
  fc.array(NAME, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/")),
  fc.constantFrom("1", "2"),
  { maxKeys: 12 },
);

/** Objects in memory: how often each was read, too. */
function store() {
  const trees = new Map<string, Buffer>();
  const reads = new Map<string, number>();
  const objects = {
    async info(name: string) {
      const id = name.replace("^{tree}", "");
      const tree = trees.get(id);
      return tree ? { id, type: "tree", size: tree.length } : null;
    },
    async contents(id: string) {
      reads.set(id, (reads.get(id) ?? 0) + 1);
      return trees.get(id) ?? null;
    },
  };
  const add = (entries: Parameters<typeof treeOf>[0]): string => {
    const tree = treeOf(entries);
    trees.set(idOf("tree", tree), tree);
    return idOf("tree", tree);
  };
  return { objects, reads, add };
}

function write(add: ReturnType<typeof store>["add"], files: Files, below = ""): string {
  const names = new Set(
    Object.keys(files)
      .filter((path) => path.startsWith(below))
      .map((path) => path.slice(below.length).split("/")[0] ?? ""),
  );
  return add(
    [...names].map((name) => {
      const content = files[below + name];
      if (content !== undefined) return { mode: "100644", name, id: idOf("blob", Buffer.from(content)) };
      return { mode: "40000", name, id: write(add, files, `${below}${name}/`) };
    }),
  );
}

/** A path of a file hides what would be below it. */
function plain(files: Files): Files {
  const isBelowFile = (path: string) =>
    path.split("/").some((_, at, parts) => at > 0 && parts.slice(0, at).join("/") in files);
  return Object.fromEntries(Object.entries(files).filter(([path]) => !isBelowFile(path)));
}

test("the count matches the differences of the two lists of files", () =>
  fc.assert(
    fc.asyncProperty(FILES.map(plain), FILES.map(plain), async (before, after) => {
      const { objects, add } = store();
      const count = createChangeCounter(objects, GIT_LIMITS, 1_000);
      const differing = new Set(
        [...Object.keys(before), ...Object.keys(after)].filter((p) => before[p] !== after[p]),
      );
      expect(await count(write(add, before), write(add, after))).toBe(differing.size);
      expect(await count(null, write(add, after))).toBe(Object.keys(after).length);
    }),
  ));

test("a tree of 10^11 paths is counted by reading each of its directories once", async () => {
  const { objects, reads, add } = store();
  let id = add([{ mode: "100644", name: "f", id: "1".repeat(40) }]);
  for (let level = 0; level < 11; level++) {
    const below = id;
    id = add(Array.from({ length: 10 }, (_, n) => ({ mode: "40000", name: `${n}`, id: below })));
  }
  expect(await createChangeCounter(objects, GIT_LIMITS, 10 ** 12)(null, id)).toBe(10 ** 11);
  expect([...reads.values()]).toEqual(Array(12).fill(1));
  const bounded = createChangeCounter(objects, GIT_LIMITS, 1_000_000)(null, id);
  await expect(bounded).rejects.toMatchObject({ code: "payload_too_large" });
});

test("limits the depth of directories, also of those counted before", async () => {
  const { objects, add } = store();
  const count = createChangeCounter(objects, { ...GIT_LIMITS, treeDepth: 10 }, 1_000);
  let id = add([{ mode: "100644", name: "f", id: "1".repeat(40) }]);
  for (let depth = 2; depth <= 10; depth++) {
    id = add([{ mode: "40000", name: "d", id }]);
    expect(await count(null, id)).toBe(1);
  }
  const deeper = add([{ mode: "40000", name: "d", id }]);
  await expect(count(null, deeper)).rejects.toMatchObject({ code: "payload_too_large" });
});

test("stops at the limit of directories, and counts a missing one as empty", async () => {
  const { objects, add } = store();
  const leaf = (n: number) => add([{ mode: "100644", name: `${n}`, id: "1".repeat(40) }]);
  const wide = add(Array.from({ length: 20 }, (_, n) => ({ mode: "40000", name: `${n}`, id: leaf(n) })));
  const count = createChangeCounter(objects, { ...GIT_LIMITS, treeDirectories: 10 }, 1_000);
  await expect(count(null, wide)).rejects.toMatchObject({ code: "payload_too_large" });
  const gone = add([{ mode: "40000", name: "d", id: "2".repeat(40) }]);
  expect(await createChangeCounter(objects, GIT_LIMITS, 1_000)(null, gone)).toBe(0);
});
