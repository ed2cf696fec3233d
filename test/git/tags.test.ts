import { expect, test } from "bun:test";
import { mirrored } from "../helpers/mirrored.ts";

test("a tag resolves to its commit, by its exact name", async () => {
  await using place = await mirrored();
  const { upstream, git, repo } = place;
  const { one = "", two = "" } = await place.write([
    { name: "one", branch: "main", files: { f: "1" } },
    { name: "two", branch: "refs/tags/shadow", parents: ["one"], files: { f: "2" } },
  ]);
  await upstream.git("update-ref", "refs/tags/light", one);
  await upstream.git("tag", "-a", "-m", "x", "annotated", one);
  await upstream.git("tag", "-a", "-m", "x", "nested", "annotated");
  await upstream.git("tag", "below/here", two);
  await upstream.git("tag", "of-tree", `${one}^{tree}`);
  await upstream.git("tag", "-a", "-m", "x", "of-blob", await upstream.git("rev-parse", `${one}:f`));
  const found = async (name: string) => [name, await git.findTag(repo, name)];
  expect(await Promise.all(["light", "annotated", "nested", "below/here"].map(found))).toEqual([
    ["light", one],
    ["annotated", one],
    ["nested", one],
    ["below/here", two],
  ]);
  // neither a folder of tags, nor a branch of the same name, nor a tag of another object than a commit
  for (const name of ["below", "shadow", "of-tree", "of-blob", "main", "none", "lig"])
    expect(await found(name)).toEqual([name, null]);
});

test("sees new and moved tags at once, and not deleted ones", async () => {
  await using place = await mirrored();
  const { upstream, git, repo } = place;
  const { one = "", two = "" } = await place.write([
    { name: "one", branch: "main", files: { f: "1" } },
    { name: "two", branch: "main", parents: ["one"], files: { f: "2" } },
  ]);
  expect(await git.findTag(repo, "v1")).toBeNull();
  await upstream.git("tag", "v1", one);
  expect(await git.findTag(repo, "v1")).toBe(one);
  await upstream.git("tag", "-f", "v1", two);
  expect(await git.findTag(repo, "v1")).toBe(two);
  await upstream.git("tag", "-d", "v1");
  expect(await git.findTag(repo, "v1")).toBeNull();
});

test("checks for a commit without contacting the host", async () => {
  await using place = await mirrored();
  const { upstream, git, repo } = place;
  const { one = "" } = await upstream.write([{ name: "one", branch: "main", files: { f: "1" } }]);
  expect(await git.hasCommit(repo, one)).toBe(false);
  await git.ensureCommits(repo, [one]);
  await upstream.git("update-ref", "-d", "refs/heads/main");
  expect(await git.hasCommit(repo, one)).toBe(true);
  for (const id of [await upstream.git("rev-parse", `${one}^{tree}`), "f".repeat(40), "f".repeat(64)])
    expect(await git.hasCommit(repo, id)).toBe(false);
});
