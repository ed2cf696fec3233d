import { expect, test } from "bun:test";
import type { TreeEntry } from "../../src/git/git.ts";
import { BYTES, type Files, runGit } from "../helpers/git-repo.ts";
import { bytesOf, type Mirrored, mirrored } from "../helpers/mirrored.ts";

const HOSTILE: Files = {
  plain: "text\n",
  empty: "",
  run: { executable: "#!/bin/sh\n" },
  link: { link: "plain" },
  "dead link": { link: "../../etc/passwd" },
  sub: { submodule: "1".repeat(40) },
  "d/f": "1\n",
  "d.x": "sorts between d and d/\n",
  "d/e/g": "2\n",
  ' q"uo\\te\t\n': "odd\n",
  "\n": "a line end\n",
  "cr\r": "x\n",
  ":(glob)**": "x\n",
  ":": "x\n",
  "a:b": "x\n",
  "-n": "x\n",
  "--help": "x\n",
  "*": "x\n",
  HEAD: "x\n",
  "main^{commit}": "x\n",
  "a~1": "x\n",
  "a^0": "x\n",
  "a@{0}": "x\n",
  "\x1b[2J": "x\n",
  "ü/ü": "x\n",
  [`${BYTES}\xff\xfe`]: "bytes\n",
  [`${BYTES}\xe9/\xe9`]: "below\n",
};

test.each(["sha1", "sha256"] as const)("a directory matches git ls-tree, in pages (%p)", async (format) => {
  await using place = await mirrored({ format });
  const files = { ...HOSTILE, sub: { submodule: "1".repeat(format === "sha1" ? 40 : 64) } };
  const { tip = "" } = await place.write([{ name: "tip", branch: "main", files }]);
  for (const path of ["", "d", "d/e", "ü", `${BYTES}\xe9`]) {
    for (const limit of [1, 2, 7, 200]) {
      const found = await entries(place, tip, path, limit);
      expect(found.map(lineOf)).toEqual(await lsTree(place, tip, path));
    }
  }
  for (const path of [
    "none",
    "plain",
    "plain/x",
    "link",
    "link/x",
    "sub",
    "sub/x",
    "d/f",
    "d//e",
    "/d",
    "d/",
    ".",
  ]) {
    const page = { commit: tip, path: bytesOf(path), skip: 0, limit: 9 };
    expect([path, await place.git.listDirectory(place.repo, page)]).toEqual([path, null]);
  }
});

test("finds each entry by its path", async () => {
  await using place = await mirrored();
  const { tip = "" } = await place.write([{ name: "tip", branch: "main", files: HOSTILE }]);
  const find = (path: string) => place.git.findEntry(place.repo, tip, bytesOf(path));
  for (const [path, content] of Object.entries(HOSTILE)) {
    const entry = await find(path);
    const name = path.slice(path.lastIndexOf("/") + 1);
    expect([path, entry && Buffer.from(entry.name)]).toEqual([
      path,
      Buffer.from(bytesOf(path.includes("/") && path.startsWith(BYTES) ? BYTES + name : name)),
    ]);
    if (typeof content === "string") expect(await read(place, tip, entry)).toBe(content);
  }
  expect(await find("link")).toMatchObject({ type: "symlink", mode: "120000", size: 5 });
  expect(await read(place, tip, await find("link"))).toBe("plain");
  expect(await find("sub")).toMatchObject({
    type: "submodule",
    mode: "160000",
    size: null,
    id: "1".repeat(40),
  });
  expect(await find("")).toMatchObject({
    type: "directory",
    id: await place.upstream.git("rev-parse", `${tip}^{tree}`),
  });
  for (const path of [
    "none",
    "d/none",
    "plain/x",
    "link/x",
    "sub/x",
    "d/",
    "/d",
    "d//f",
    "./d",
    "d/../plain",
    "a",
  ])
    expect([path, await find(path)]).toEqual([path, null]);
});

test("a name that resembles a commit is a name", async () => {
  await using place = await mirrored();
  const { secret = "" } = await place.write([{ name: "secret", branch: "other", files: { f: "other\n" } }]);
  const short = secret.slice(0, 10);
  const names = [`v1-g${short}`, `x-g${secret}`, `v1-g${short}^{tree}`, `v1-g${short}~0`];
  const files = Object.fromEntries(names.map((name) => [name, `${name}\n`]));
  const { tip = "" } = await place.write([{ name: "tip", branch: "main", files }]);
  // git 2.39 itself falls for it
  for (const name of names) {
    const entry = await place.git.findEntry(place.repo, tip, bytesOf(name));
    expect(entry?.type).toBe("file");
    expect(await read(place, tip, entry)).toBe(`${name}\n`);
    const file = await place.git.readFile(place.repo, tip, name, 1000);
    expect(Buffer.from(file ?? []).toString()).toBe(`${name}\n`);
  }
  expect(await place.git.findEntry(place.repo, tip, bytesOf(`y-g${short}`))).toBeNull();
});

test("lists 50,000 entries in pages, and finds one of them", async () => {
  await using place = await mirrored();
  const blob = await place.upstream.git("hash-object", "-w", "--stdin");
  const names = Array.from({ length: 50_000 }, (_, at) => `file-${String(at).padStart(5, "0")}`);
  const stdin = names.map((name) => `100644 blob ${blob}\t${name}\n`).join("");
  const tree = (await runGit(place.upstream.directory, ["mktree"], { stdin })).stdout.toString().trim();
  const tip = await place.writeRaw(
    "main",
    Buffer.from(`tree ${tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n`),
  );
  const found: string[] = [];
  for (const skip of [0, 199, 25_000, 49_900, 50_000]) {
    const page = await place.git.listDirectory(place.repo, {
      commit: tip,
      path: bytesOf(""),
      skip,
      limit: 200,
    });
    const shown = page?.entries.map((entry) => Buffer.from(entry.name).toString());
    expect(shown).toEqual(names.slice(skip, skip + 200));
    expect(page?.more).toBe(skip + 200 < names.length);
    found.push(...(shown ?? []));
  }
  expect(found).toHaveLength(700);
  expect(await place.git.findEntry(place.repo, tip, bytesOf("file-49999"))).toMatchObject({
    id: blob,
    size: 0,
  });
});

test("rejects a directory over the limit, and its entries", async () => {
  await using place = await mirrored({ git: { limits: { treeBytes: 100 } } });
  const files = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`d/f${at}`, "x"]));
  const { tip = "" } = await place.write([{ name: "tip", branch: "main", files }]);
  for (const path of ["d", "d/f1"]) {
    const asked = place.git.listDirectory(place.repo, {
      commit: tip,
      path: bytesOf(path),
      skip: 0,
      limit: 5,
    });
    expect(asked).rejects.toMatchObject({ code: "payload_too_large" });
    await asked.catch(() => {});
  }
  expect(await entries(place, tip, "", 5)).toHaveLength(1);
});

function lineOf({ mode, type, id, size, name }: TreeEntry): string {
  const kind = { file: "blob", symlink: "blob", directory: "tree", submodule: "commit" }[type];
  return `${mode} ${kind} ${id} ${size ?? "-"} ${Buffer.from(name).toString("latin1")}`;
}

async function lsTree({ upstream }: Mirrored, commit: string, path: string): Promise<string[]> {
  // `--literal-pathspecs` and a slash at the end: what the directory holds, by names from the root
  const bytes = Buffer.from(bytesOf(path));
  const { stdout } = await runGit(upstream.directory, ["ls-tree", "-z", "-l", "-r", "-t", commit]);
  const depth = path === "" ? 0 : bytes.toString("latin1").split("/").length;
  const prefix = path === "" ? "" : `${bytes.toString("latin1")}/`;
  return stdout
    .toString("latin1")
    .split("\0")
    .filter(Boolean)
    .flatMap((line) => {
      const tab = line.indexOf("\t");
      const [mode, kind, id, size] = line.slice(0, tab).split(/ +/);
      const whole = line.slice(tab + 1);
      if (!whole.startsWith(prefix) || whole.split("/").length !== depth + 1) return [];
      return [`${mode} ${kind} ${id} ${size} ${whole.slice(prefix.length)}`];
    });
}

async function entries(
  { git, repo }: Mirrored,
  commit: string,
  path: string,
  limit: number,
): Promise<TreeEntry[]> {
  const all: TreeEntry[] = [];
  for (;;) {
    const page = await git.listDirectory(repo, { commit, path: bytesOf(path), skip: all.length, limit });
    if (!page) throw new Error(`no directory ${path}`);
    all.push(...page.entries);
    if (!page.more) return all;
    expect(page.entries).toHaveLength(limit);
  }
}

async function read({ git, repo }: Mirrored, commit: string, entry: TreeEntry | null): Promise<string> {
  if (!entry) throw new Error("no entry");
  const parts: Uint8Array[] = [];
  await git.readBlob(repo, { commit, entry, onBytes: (bytes) => parts.push(bytes) > 0 });
  return Buffer.concat(parts).toString();
}
