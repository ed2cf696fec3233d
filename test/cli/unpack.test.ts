import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Header, pack } from "tar-stream";
import { type Copied, unpack } from "../../cli/exec/unpack.ts";

const root = mkdtempSync(join(tmpdir(), "svc-unpack-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

async function unpacked(entries: (Partial<Header> & { name: string })[], top: string | null = "d") {
  const folder = join(root, `outer-${++count}`, "folder");
  mkdirSync(folder, { recursive: true });
  const tar = pack();
  for (const entry of entries)
    if (entry.type === undefined || entry.type === "file") tar.entry({ ...entry, type: "file" }, "text");
    else tar.entry(entry);
  tar.finalize();
  const copied: Copied = { files: 0, bytes: 0, omitted: [] };
  const bytes = async function* () {
    for await (const piece of tar) if (piece instanceof Uint8Array) yield piece;
  };
  const error = await unpack(bytes(), folder, copied, top).catch((caught: Error) => caught);
  return {
    folder,
    copied,
    error,
    outside: () => readdirSync(join(folder, "..")).filter((name) => name !== "folder"),
  };
}

test.each<[what: string, entries: (Partial<Header> & { name: string })[]]>([
  ["a path upwards", [{ name: "../x" }]],
  ["a path upwards inside", [{ name: "d/../../x" }]],
  ["an absolute path", [{ name: "/tmp/svc-unpack-x" }]],
  ["a file through a link", [{ name: "d/l", type: "symlink", linkname: ".." }, { name: "d/l/../../x" }]],
  [
    "a file through a link to the outside",
    [{ name: "d/l", type: "symlink", linkname: "../.." }, { name: "d/l/x" }],
  ],
  ["an absolute link", [{ name: "d/l", type: "symlink", linkname: "/etc" }, { name: "d/l/x" }]],
  ["a link out by a detour", [{ name: "d/l", type: "symlink", linkname: "a/../../../x" }]],
  [
    "a hard link to the outside",
    [{ name: "d/x", type: "link", linkname: "../../../../../../../etc/passwd" }],
  ],
  ["a hard link to an absolute path", [{ name: "d/x", type: "link", linkname: "/etc/passwd" }]],
  ["a device", [{ name: "d/x", type: "character-device", devmajor: 1, devminor: 5 }]],
])("%s writes nothing outside, and leads nowhere", async (_, entries) => {
  const { folder, copied, outside } = await unpacked(entries);
  expect(outside()).toEqual([]);
  expect(existsSync("/tmp/svc-unpack-x")).toBe(false);
  if (existsSync(join(folder, "d/x"))) throw new Error("it was made");
  for (const name of existsSync(join(folder, "d")) ? readdirSync(join(folder, "d")) : [])
    expect(statSync(join(folder, "d", name)).isFile() || name === "l").toBe(true);
  expect(copied.omitted.length + copied.files).toBeGreaterThan(0);
});

test("files keep their permissions, but for those that are nobody's business", async () => {
  const { folder } = await unpacked([
    { name: "d/run", mode: 0o4755 },
    { name: "d/hidden", mode: 0o040 },
  ]);
  expect([
    statSync(join(folder, "d/run")).mode & 0o7777,
    statSync(join(folder, "d/hidden")).mode & 0o7777,
  ]).toEqual([0o755, 0o640]);
  expect(readFileSync(join(folder, "d/run"), "utf8")).toBe("text");
});
