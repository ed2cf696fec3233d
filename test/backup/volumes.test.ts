import { afterAll, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Header, pack } from "tar-stream";
import { DamagedError } from "../../src/backup/format.ts";
import { packVolume } from "../../src/backup/pack-volume.ts";
import { unpackVolume } from "../../src/backup/unpack-volume.ts";
import { measureFolder } from "../../src/sandboxes/local/volumes.ts";
import { streamOf } from "../../src/sandboxes/tar.ts";

const root = mkdtempSync(join(tmpdir(), "svc-volumes-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
const place = () => join(root, `place-${++count}`);

const bytes = (text: string) => Buffer.from(text, "latin1");
/** Every path of a folder, with its kind, its mode and what it has. */
function contentOf(folder: Buffer | string, name = ""): string[] {
  return readdirSync(folder, { encoding: "buffer" })
    .map((entry) => entry.toString("latin1"))
    .sort()
    .flatMap((entry) => {
      const path = Buffer.concat([Buffer.from(folder), bytes(`/${entry}`)]);
      const found = lstatSync(path);
      const inside = `${name}/${entry}`;
      if (found.isSymbolicLink())
        return [`${inside} -> ${readlinkSync(path, { encoding: "buffer" }).toString("latin1")}`];
      const mode = (found.mode & 0o777).toString(8);
      if (found.isDirectory()) return [`${inside}/ ${mode}`, ...contentOf(path, inside)];
      if (!found.isFile()) return [`${inside} is special`];
      return [`${inside} ${mode} ${Math.floor(found.mtimeMs / 1000)} ${Bun.hash(readFileSync(path))}`];
    });
}

async function copyOf(folder: string): Promise<string> {
  const tar = pack();
  const packed = packVolume(tar, folder);
  const target = place();
  await unpackVolume(streamOf(tar), target);
  await packed;
  return target;
}

test("a volume is restored as it was: names of any bytes, links, modes, empty and large files", async () => {
  const folder = place();
  mkdirSync(join(folder, "empty"), { recursive: true });
  mkdirSync(join(folder, "deep/er/".repeat(40)), { recursive: true });
  mkdirSync(Buffer.concat([Buffer.from(folder), bytes("/not-\xff-utf8")]));
  const files = [
    "a",
    "ü",
    "with\nline",
    "with space",
    "-rf",
    "..x",
    "\xfe\xff",
    "é".repeat(100),
    "name.tar/",
  ].filter((name) => !name.endsWith("/"));
  for (const [index, name] of files.entries())
    for (const inside of ["/", "/not-\xff-utf8/"])
      writeFileSync(Buffer.concat([Buffer.from(folder), bytes(inside), bytes(name)]), `file ${index}`, {
        mode: index % 2 ? 0o640 : 0o755,
      });
  writeFileSync(join(folder, "none"), "");
  writeFileSync(join(folder, "large"), Buffer.alloc(700_001, "x"));
  writeFileSync(join(folder, "sparse"), "");
  truncateSync(join(folder, "sparse"), 100_000);
  mkdirSync(join(folder, "closed"), { mode: 0o500 });
  symlinkSync("/etc/passwd", join(folder, "outside"));
  symlinkSync("../..", join(folder, "deep/up"));
  symlinkSync(bytes("nowhere-\xff"), join(folder, "dangling"));
  const before = contentOf(folder);
  expect(before.length).toBeGreaterThan(30);
  expect(Bun.spawnSync(["mkfifo", join(folder, "pipe")]).exitCode).toBe(0);
  expect(contentOf(await copyOf(folder))).toEqual(before);
});

const HOSTILE: [string, Partial<Header>[]][] = [
  ["leaves the folder", [{ name: "../evil" }]],
  ["is absolute", [{ name: "/tmp/evil" }]],
  ["goes up within", [{ name: "a", type: "directory" }, { name: "a/../../evil" }]],
  ["has an empty part", [{ name: "a", type: "directory" }, { name: "a//evil" }]],
  ["is through a link", [{ name: "a", type: "symlink", linkname: "OUTSIDE" }, { name: "a/evil" }]],
  [
    "is a folder through a link",
    [
      { name: "a", type: "symlink", linkname: "OUTSIDE" },
      { name: "a/b", type: "directory" },
    ],
  ],
  ["is there twice", [{ name: "a" }, { name: "a" }]],
  ["has no folder", [{ name: "a/evil" }]],
  ["is in a file", [{ name: "a" }, { name: "a/evil" }]],
  ["is a hard link", [{ name: "a", type: "link", linkname: "/etc/passwd" }]],
  ["is a device", [{ name: "a", type: "character-device" }]],
  ["has characters that are no bytes", [{ name: "\u0416" }]],
];

test.each(HOSTILE)("an entry that %s is refused, and nothing is written elsewhere", async (_, entries) => {
  const outside = place();
  mkdirSync(outside);
  const tar = pack();
  for (const { name = "", type, linkname } of entries) {
    const link = linkname !== undefined && { linkname: linkname === "OUTSIDE" ? outside : linkname };
    if (type) tar.entry({ name, type, ...link });
    else tar.entry({ name }, "x");
  }
  tar.finalize();
  await expect(unpackVolume(streamOf(tar), join(place(), "volume"))).rejects.toBeInstanceOf(DamagedError);
  expect(readdirSync(outside)).toEqual([]);
  expect(readdirSync(root).filter((name) => name === "evil")).toEqual([]);
});

test("a folder is measured with the holes of its files and its small files, until it is too large", async () => {
  const folder = place();
  mkdirSync(Buffer.concat([Buffer.from(folder), bytes("/\xff")]), { recursive: true });
  const empty = await measureFolder(folder, Infinity);
  for (let n = 0; n < 10; n++) writeFileSync(Buffer.concat([Buffer.from(folder), bytes(`/\xff/${n}`)]), "");
  expect((await measureFolder(folder, Infinity)) - empty).toBe(10 * 4_096);
  writeFileSync(join(folder, "sparse"), "");
  truncateSync(join(folder, "sparse"), 10 ** 12);
  expect(await measureFolder(folder, Infinity)).toBeGreaterThanOrEqual(10 ** 12);
  // it does not follow a link, and ends at once
  symlinkSync("/", join(folder, "root"));
  expect(await measureFolder(folder, 10_000)).toBeGreaterThan(10_000);
});
