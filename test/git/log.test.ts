import { expect, test } from "bun:test";
import { COMMIT_MESSAGE_MAX_BYTES } from "../../src/contract/limits.ts";
import type { LoggedCommit } from "../../src/git/git.ts";
import { BYTES, type Commit, runGit } from "../helpers/git-repo.ts";
import { bytesOf, type Mirrored, mirrored } from "../helpers/mirrored.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";

const NONE = new Uint8Array();
const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

test("the pages match git log on random histories", async () => {
  await using place = await mirrored();
  const shape = fc.array(
    fc.record({
      parents: fc.array(fc.nat(6), { maxLength: 4 }),
      path: fc.constantFrom("a", "d/b", "d/c"),
      text: fc.nat(3),
    }),
    { minLength: 1, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(shape, fc.integer({ min: 1, max: 9 }), async (rows, limit) => {
      const commits: Commit[] = rows.map(({ parents, path, text }, at) => ({
        name: `c${at}`,
        branch: at === rows.length - 1 ? "main" : `b${at}`,
        parents: [...new Set(parents.map((back) => at - 1 - back).filter((parent) => parent >= 0))].map(
          (parent) => `c${parent}`,
        ),
        files: { [path]: `${text}\n` },
      }));
      const ids = await place.write(commits);
      const tip = ids[`c${rows.length - 1}`] ?? "";
      const lines = (await place.upstream.git("rev-list", "--parents", tip)).split("\n");
      const parentsOf = new Map(lines.map((line) => [line.split(" ")[0], line.split(" ").slice(1)]));
      for (const path of ["", "a", "d", "d/b", "none"]) {
        const found = await pages(place, tip, bytesOf(path), limit);
        expect(found.map((commit) => commit.id)).toEqual(await revList(place, tip, path));
        for (const { id, parents } of found) expect(parents).toEqual(parentsOf.get(id) ?? []);
      }
    }),
    { numRuns: share(6, 100) },
  );
});

test("a path is never read as an option, pattern or revision", async () => {
  await using place = await mirrored();
  const names = [
    ":(glob)**",
    ":!x",
    ":/a",
    "*",
    "[ab]",
    "-n1",
    "--all",
    "a b",
    ' q"uo\\te\t\n',
    "cr\r",
    "\n",
    "ü",
    `${BYTES}\xff\xfe`,
    `${BYTES}d\xe9/f`,
    "plain",
  ];
  const commits: Commit[] = names.map((_, at) => ({
    name: `c${at}`,
    branch: "main",
    parents: at === 0 ? [] : [`c${at - 1}`],
    files: Object.fromEntries(names.slice(0, at + 1).map((each) => [each, `${each}\n`])),
  }));
  const ids = await place.write(commits);
  const tip = ids[`c${names.length - 1}`] ?? "";
  for (const [at, name] of names.entries()) {
    const { commits: found } = await log(place, tip, bytesOf(name));
    expect([name, found.map((commit) => commit.id)]).toEqual([name, [ids[`c${at}`] ?? ""]]);
  }
  const below = await log(place, tip, bytesOf(`${BYTES}d\xe9`));
  expect(below.commits).toHaveLength(1);
  expect(log(place, tip, bytesOf(`${BYTES}\xff\n`))).rejects.toMatchObject({ code: "validation_failed" });
});

test("parses commits like git", async () => {
  await using place = await mirrored();
  const rows: [name: string, head: string, message: string, encoding?: string][] = [
    ["plain", "A <a@b> 1700000000 +0000", "Subject\n\nBody\n\nmore  \n"],
    ["no body", "A <a@b> 1700000000 +0000", "Subject\n"],
    ["nothing", "A <a@b> 1700000000 +0000", ""],
    ["blank lines", "A <a@b> 1700000000 +0000", "\n\n \nSubject\non two lines \n\n\n\n  indented\nbody\n\n"],
    ["one blank", "A <a@b> 1700000000 +0000", " \n"],
    ["separators", "A <a@b> 1700000000 +0000", "%x00%H%<(99999999)\x01\x1e\n\n\x1b[2J"],
    ["crlf", "A <a@b> 1700000000 +0000", "Subject\r\n\r\nBody\r\n"],
    ["no name", " <a@b> 1700000000 +0000", "x\n"],
    ["spaces", "A  B  < a@b > 1700000000 +0530", "x\n"],
    ["utf-8", "Zoë 🎉 <zoë@b> 1700000000 -0800", "Größe 🎉\n\n漢字\n"],
    ["not utf-8", "Zo\xeb <a@b> 1700000000 +0000", "Gr\xf6\xdfe\n\n\xff\xfe\n"],
    ["latin-1", "Zo\xeb <a@b> 1700000000 +0000", "Gr\xf6\xdfe \x80\n", "ISO-8859-1"],
    ["cyrillic", "\xc8\xe2\xe0\xed <a@b> 1700000000 +0000", "\xcf\xf0\xe8\xe2\xe5\xf2\n", "windows-1251"],
    ["japanese", "\x8eR\x93c <a@b> 1700000000 +0000", "\x93\xfa\x96{\n", "Shift_JIS"],
    ["unknown", "A <a@b> 1700000000 +0000", "x\n", "klingon"],
    ["early", "A <a@b> 0 +0000", "x\n"],
  ];
  for (const [name, head, message, encoding] of rows) {
    const object = Buffer.from(
      `tree ${TREE}\nauthor ${head}\ncommitter ${head}\n${encoding ? `encoding ${encoding}\n` : ""}\n${message}`,
      name === "utf-8" ? "utf8" : "latin1",
    );
    const id = await place.writeRaw(name.replaceAll(" ", "-"), object);
    const [commit] = (await log(place, id, NONE)).commits;
    const told = [commit?.author.name, commit?.author.email, commit?.author.date?.getTime()];
    // one process for all fields
    const shown = await runGit(place.upstream.directory, [
      ...["log", "-1", "--encoding=UTF-8", "--format=%an%x00%ae%x00%at%x00%s%x00%b", id],
    ]);
    const [author = "", email = "", date, subject, body] = shown.stdout
      .toString("utf8")
      .split("\0")
      .map((field) => field.trimEnd());
    expect([name, ...told]).toEqual([name, author.trim(), email.trim(), Number(date) * 1000]);
    expect([name, commit?.subject.trimEnd()]).toEqual([name, subject]);
    expect([name, commit?.body]).toEqual([name, body]);
    expect(commit?.truncated).toBe(false);
  }
});

test("an invalid date is null, and no commit hides another", async () => {
  await using place = await mirrored();
  const tip = await place.writeRaw(
    "main",
    Buffer.from(`tree ${TREE}\nauthor A <a@b> 999999999999 +0000\ncommitter A <a@b> 1 +9999\n\nx\n`),
  );
  const { commits } = await log(place, tip, NONE);
  expect(commits.map(({ author, committer }) => [author.date, committer.date?.getTime()])).toEqual([
    [null, 1000],
  ]);
});

test("a huge message is truncated between characters, in little memory and time", async () => {
  await using place = await mirrored();
  const head = `tree ${TREE}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n`;
  const text = `Subject\n\n${"é".repeat(20_000_000)}`;
  const tip = await place.writeRaw("main", Buffer.from(head + text));
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  const [commit] = (await log(place, tip, NONE)).commits;
  expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  expect(commit).toMatchObject({ subject: "Subject", truncated: true });
  expect(commit?.body).toMatch(/^é+$/);
  expect(Buffer.byteLength(commit?.body ?? "")).toBeGreaterThan(COMMIT_MESSAGE_MAX_BYTES - 20);
  const middling = await place.writeRaw("other", Buffer.from(`${head}x${"é".repeat(10_000)}`));
  const [other] = (await log(place, middling, NONE)).commits;
  expect(other).toMatchObject({ truncated: true, body: "" });
  expect(other?.subject).toMatch(/^xé+$/);
  expect(Buffer.byteLength(other?.subject ?? "")).toBe(COMMIT_MESSAGE_MAX_BYTES - 1);
});

test.each([66, 1_500])("an octopus of %p parents", async (arms) => {
  await using place = await mirrored();
  const roots: Commit[] = Array.from({ length: arms }, (_, at) => ({
    name: `r${at}`,
    files: { f: `${at}` },
  }));
  const made = await place.upstream.write(roots);
  const lines = roots.map(({ name }) => `parent ${made[name]}\n`).join("");
  const who = "A <a@b> 1800000000 +0000";
  const object = `tree ${TREE}\n${lines}author ${who}\ncommitter ${who}\n\nAll\n`;
  const tip = await place.writeRaw("main", Buffer.from(object));
  const page = await log(place, tip, NONE, { limit: 1 });
  const [commit] = page.commits;
  expect(page.more).toBe(true);
  // a commit over 64 KiB is truncated, and marked as truncated
  const isWhole = object.length <= 64 * 1024;
  expect(commit?.truncated).toBe(!isWhole);
  expect(commit?.subject).toBe(isWhole ? "All" : "");
  const all = roots.map(({ name }) => made[name] ?? "");
  expect(commit?.parents).toEqual(isWhole ? all : all.slice(0, commit?.parents.length));
  expect(commit?.parents.length).toBeGreaterThan(60);
  expect((await pages(place, tip, NONE, 200)).map(({ id }) => id)).toEqual(await revList(place, tip, ""));
});

test("works in a SHA-256 repository", async () => {
  await using place = await mirrored({ format: "sha256" });
  const { two = "", one = "" } = await place.write([
    { name: "one", branch: "main", files: { f: "1" } },
    { name: "two", branch: "main", parents: ["one"], files: { f: "2" } },
  ]);
  expect((await log(place, two, NONE)).commits.map(({ id, parents }) => [id, parents])).toEqual([
    [two, [one]],
    [one, []],
  ]);
});

function log(
  { git, repo }: Mirrored,
  commit: string,
  path: Uint8Array,
  { skip = 0, limit = 200 }: { skip?: number; limit?: number } = {},
) {
  return git.log(repo, { commit, path, skip, limit });
}

async function pages(place: Mirrored, tip: string, path: Uint8Array, limit: number): Promise<LoggedCommit[]> {
  const all: LoggedCommit[] = [];
  for (;;) {
    const page = await log(place, tip, path, { skip: all.length, limit });
    all.push(...page.commits);
    if (!page.more) return all;
    expect(page.commits).toHaveLength(limit);
  }
}

async function revList({ upstream }: Mirrored, tip: string, path: string): Promise<string[]> {
  const text = await upstream.git("rev-list", tip, "--", ...(path === "" ? [] : [path]));
  return text.split("\n").filter(Boolean);
}
