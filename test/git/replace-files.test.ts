import { expect, test } from "bun:test";
import { type Files, runGit } from "../helpers/git-repo.ts";
import { mirrored } from "../helpers/mirrored.ts";

const FILES: Files = {
  "svc.toml": "old\n",
  "a/b/run": { executable: "#!/bin/sh\n" },
  "a/b/other": "kept\n",
  "a.x": "x\n",
  link: { link: "svc.toml" },
};
const CHANGE = {
  message: "Change it",
  identity: { name: "svc", email: "no-reply@svc.invalid" },
  date: new Date("2026-01-01T00:00:00.500Z"),
};

test.each(["sha1", "sha256"] as const)("replaces a file, and nothing else (%p)", async (format) => {
  await using place = await mirrored({ format });
  const { tip = "" } = await place.write([{ name: "tip", branch: "main", files: FILES }]);
  for (const path of ["svc.toml", "a/b/run"]) {
    const request = { ...CHANGE, commit: tip, files: [{ path, bytes: Buffer.from("new\0\xff", "latin1") }] };
    const commit = await place.git.replaceFiles(place.repo, request);
    expect(await place.git.replaceFiles(place.repo, request)).toBe(commit);
    expect(await place.git.push(place.repo, { branch: `to/${path}`, from: null, to: commit })).toEqual({
      outcome: "moved",
    });
    const git = async (...args: string[]) =>
      (await runGit(place.upstream.directory, args)).stdout.toString("latin1");
    const raw = await git("diff-tree", "-r", "--no-commit-id", commit);
    expect(raw.trim().split("\n")).toHaveLength(1);
    const mode = path === "svc.toml" ? "100644" : "100755";
    expect(raw).toMatch(new RegExp(`^:${mode} ${mode} [0-9a-f]+ [0-9a-f]+ M\t${path}\n$`));
    expect(await git("show", `${commit}:${path}`)).toBe("new\0\xff");
    expect(await git("show", "-s", "--format=%P %an %ae %at %cn %ct %B", commit)).toBe(
      `${tip} svc no-reply@svc.invalid 1767225600 svc 1767225600 Change it\n`,
    );
    expect((await runGit(place.upstream.directory, ["fsck", "--strict"])).stderr.toString()).not.toMatch(
      /error/,
    );
  }
});

test("replaces several files, also of one directory, in one commit", async () => {
  await using place = await mirrored();
  const { tip = "" } = await place.write([{ name: "tip", branch: "main", files: FILES }]);
  const paths = ["a/b/run", "svc.toml", "a/b/other"];
  const files = paths.map((path) => ({ path, bytes: Buffer.from(`new ${path}`) }));
  const commit = await place.git.replaceFiles(place.repo, { ...CHANGE, commit: tip, files });
  await place.git.push(place.repo, { branch: "several", from: null, to: commit });
  const git = async (...args: string[]) => (await runGit(place.upstream.directory, args)).stdout.toString();
  const changed = await git("diff-tree", "-r", "--no-commit-id", "--name-only", commit);
  expect(changed.trim().split("\n")).toEqual(["a/b/other", "a/b/run", "svc.toml"]);
  expect(await git("show", "-s", "--format=%P", commit)).toBe(`${tip}\n`);
  for (const path of paths) expect(await git("show", `${commit}:${path}`)).toBe(`new ${path}`);
});

test.each(["none", "a", "a/b", "link", "svc.toml/x", "a/none/run", "link/x"])(
  "rejects what is not a file: %s",
  async (path) => {
    await using place = await mirrored();
    const { tip = "" } = await place.write([{ name: "tip", branch: "main", files: FILES }]);
    const request = { ...CHANGE, commit: tip, files: [{ path, bytes: new Uint8Array() }] };
    await expect(place.git.replaceFiles(place.repo, request)).rejects.toMatchObject({ code: "not_found" });
  },
);
