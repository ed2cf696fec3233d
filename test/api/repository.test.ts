import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { Value } from "@sinclair/typebox/value";
import { CONTENT_MAX_BYTES, FILE_MAX_BYTES, PAGE_MAX } from "../../src/contract/limits.ts";
import { branch, commit, directory, fileContents } from "../../src/contract/repository.ts";
import { setFormats } from "../../src/http/formats.ts";
import { type Api, type CallOptions, startApi } from "../helpers/api.ts";
import { BYTES } from "../helpers/git-repo.ts";
import { type Change, git, Remote } from "../helpers/remote.ts";

let api: Api;
let remote: Remote;
let project: { project_id: string };
let first: string;
let second: string;

const FILES: Record<string, Change> = {
  "README.md": "# Hello\n",
  "src/a.ts": "a\n",
  "src/deep/b.ts": "b\n",
  run: { executable: "#!/bin/sh\n" },
  link: { link: "src/a.ts" },
  vendor: { submodule: "1".repeat(40) },
  empty: "",
  binary: Uint8Array.of(0, 0xff, 0xfe, 1),
  "nul in text": "a\0b",
  bom: "\ufeffx",
  "<script>'(*)\".html": "<script>alert(1)</script>",
  "a\tb\nc": "odd\n",
  ":(glob)**": "magic\n",
  [`${BYTES}\xff\xfe`]: "bytes\n",
};

const BODY = "With a body.\n\nCo-authored-by: B <b@example.com>";

beforeAll(async () => {
  api = await startApi();
  remote = new Remote();
  first = remote.commit("main", FILES, { message: `First\n\n${BODY}` });
  second = remote.commit("main", { "src/a.ts": "a2\n" }, { message: "Second" });
  remote.commit("work/one", { "work.txt": "w\n" }, { from: "main" });
  remote.git("tag", "-a", "-m", "x", "v1", first);
  remote.git("tag", "work/one", first);
  project = await api.project(remote.url);
});
afterAll(async () => {
  await api.stop();
  remote.remove();
});

const ask = (what: string, query: Record<string, string | number> = {}, options: CallOptions = {}) => {
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  return api.call("GET", `/v1/projects/${project.project_id}/${what}?${search}`, options);
};
const RAW = { headers: { Accept: "application/octet-stream" } };

describe("branches", () => {
  test("are listed with the default branch first, then by name, in pages", async () => {
    const names = ["B", "a", "feature/x", "ü", "z".repeat(200)];
    for (const name of names) remote.branch(name, "main");
    const whole = await ask("branches");
    const expected = ["main", "B", "a", "feature/x", "work/one", "z".repeat(200), "ü"];
    expect(whole.body.branches.map((row: { name: string }) => row.name)).toEqual(expected);
    expect(whole.body.branches[0]).toEqual({ name: "main", commit_sha: second, is_default: true });
    expect(whole.body.next_cursor).toBeUndefined();
    for (const limit of [1, 2, 3, 7]) {
      const found: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const { status, body } = await ask("branches", { limit, ...(cursor ? { cursor } : {}) });
        expect(status).toBe(200);
        found.push(...body.branches.map((row: { name: string }) => row.name));
        cursor = body.next_cursor;
        if (!cursor) break;
      }
      expect(found).toEqual(expected);
    }
    for (const name of names) remote.deleteBranch(name);
  });

  test("are current immediately after a push", async () => {
    const tip = remote.commit("fresh", { x: "1\n" }, { from: "main" });
    const { body } = await ask("branches");
    expect(body.branches).toContainEqual({ name: "fresh", commit_sha: tip, is_default: false });
    expect((await ask("contents", { ref: "fresh", path: "x" })).body.content).toBe("1\n");
    remote.deleteBranch("fresh");
    expect((await ask("contents", { ref: "fresh", path: "x" })).body.code).toBe("ref_not_found");
  });
});

describe("a ref", () => {
  const commitOf = async (ref: string) => {
    const { status, body } = await ask("files", { ref });
    return status === 200 ? [body.ref, body.commit_sha] : [status, body.code];
  };

  test("is a branch, a tag, a full name of either, or a full commit id", async () => {
    const work = remote.sha("work/one");
    expect(await commitOf("main")).toEqual(["main", second]);
    expect(await commitOf("refs/heads/main")).toEqual(["main", second]);
    expect(await commitOf("v1")).toEqual(["v1", first]);
    expect(await commitOf("refs/tags/v1")).toEqual(["refs/tags/v1", first]);
    // a branch stands over a tag of the same name
    expect(await commitOf("work/one")).toEqual(["work/one", work]);
    expect(await commitOf("refs/tags/work/one")).toEqual(["refs/tags/work/one", first]);
    expect(await commitOf(first)).toEqual([first, first]);
    expect(await commitOf(first.toUpperCase())).toEqual([first.toUpperCase(), first]);
    const { body } = await ask("files");
    expect([body.ref, body.commit_sha]).toEqual(["main", second]);
  });

  test("is no other revision syntax of git", async () => {
    const tree = remote.git("rev-parse", `${first}^{tree}`).trim();
    const tag = remote.git("rev-parse", "refs/tags/v1").trim();
    const rows: [ref: string, code: string][] = [
      ["none", "ref_not_found"],
      ["refs/heads/v1", "ref_not_found"],
      ["refs/tags/main", "ref_not_found"],
      ["refs/cr/1/head", "ref_not_found"],
      ["refs/svc/none", "ref_not_found"],
      ["heads/main", "ref_not_found"],
      ["tags/v1", "ref_not_found"],
      [first.slice(0, 12), "ref_not_found"],
      [`v1-0-g${first.slice(0, 12)}`, "ref_not_found"],
      ["f".repeat(40), "ref_not_found"],
      ["f".repeat(64), "ref_not_found"],
      [tree, "ref_not_found"],
      [tag, "ref_not_found"],
      ["", "invalid_ref"],
      ["HEAD", "invalid_ref"],
      ["@{-1}", "invalid_ref"],
      ["main~1", "invalid_ref"],
      ["main^{tree}", "invalid_ref"],
      ["main:README.md", "invalid_ref"],
      [":/First", "invalid_ref"],
      ["main..work/one", "invalid_ref"],
      ["-n", "invalid_ref"],
      ["--all", "invalid_ref"],
      ["refs/tags/", "invalid_ref"],
      ["refs/tags/*", "invalid_ref"],
      ["refs/tags/--all", "invalid_ref"],
      [`refs/heads/${first}`, "invalid_ref"],
      ["a\0b", "invalid_ref"],
      ["x".repeat(5000), "invalid_ref"],
    ];
    for (const [ref, code] of rows) expect([ref, await commitOf(ref)]).toEqual([ref, [400, code]]);
  });

  test("has its own error if it is the missing default branch", async () => {
    const other = new Remote({ defaultBranch: "trunk" });
    other.commit("trunk", { a: "1\n" });
    const { project_id } = await api.project(other.url);
    other.branch("else", "trunk");
    other.deleteBranch("trunk");
    const { status, body } = await api.call("GET", `/v1/projects/${project_id}/files`);
    expect([status, body.code]).toEqual([400, "ref_not_found"]);
    expect(body.error).toContain('"trunk", which is this project\'s default branch');
    other.remove();
  });

  test("of an empty repository has an error with the next step, on a host and with svc", async () => {
    const other = new Remote();
    const made = await api.project(other.url);
    const hosted = await api.call("POST", "/v1/projects", { body: { name: "Hosted" } });
    for (const id of [made.project_id, hosted.body.project_id]) {
      const at = `/v1/projects/${id}`;
      expect((await api.call("GET", `${at}/branches`)).body).toEqual({ branches: [] });
      for (const what of [
        "commits",
        "files",
        "contents?path=a",
        `files?ref=${first}`,
        "files?ref=refs/tags/v1",
      ]) {
        const { status, body } = await api.call("GET", `${at}/${what}`);
        expect([what, status, body.code]).toEqual([what, 400, "ref_not_found"]);
        expect(body.error).toContain("git push");
      }
    }
    // an id of the other format has not spoiled the mirror
    other.commit("main", { a: "1\n" });
    const at = `/v1/projects/${made.project_id}`;
    expect((await api.call("GET", `${at}/files?ref=${"f".repeat(64)}`)).body.code).toBe("ref_not_found");
    expect((await api.call("GET", `${at}/contents?path=a`)).body.content).toBe("1\n");
    other.remove();
  });
});

describe("commits", () => {
  test("are listed newest first, with their messages", async () => {
    const { status, body } = await ask("commits", { ref: "main" });
    expect(status).toBe(200);
    expect(body).toEqual({
      commits: [
        expect.objectContaining({ sha: second, parents: [first], subject: "Second", body: "" }),
        {
          sha: first,
          parents: [],
          author: { name: "A", email: "a@example.com", date: expect.stringMatching(/^2023-.*Z$/) },
          committer: { name: "A", email: "a@example.com", date: expect.stringMatching(/^2023-.*Z$/) },
          subject: "First",
          co_authors: [{ name: "B", email: "b@example.com" }],
          body: BODY,
          truncated: false,
          verification: { verified: false, reason: "unsigned", signer: null },
        },
      ],
    });
  });

  test("of a path are those that changed it; an unknown path has none", async () => {
    const shas = async (query: Record<string, string>) =>
      (await ask("commits", query)).body.commits.map((row: { sha: string }) => row.sha);
    expect(await shas({ path: "src/a.ts" })).toEqual([second, first]);
    expect(await shas({ path: "src" })).toEqual([second, first]);
    expect(await shas({ path: "src/" })).toEqual([second, first]);
    expect(await shas({ path: "README.md" })).toEqual([first]);
    expect(await shas({ path: ":(glob)**" })).toEqual([first]);
    expect(await shas({ path: "a\tb\nc" })).toEqual([first]);
    expect(await shas({ path_base64: Buffer.from("fffe", "hex").toString("base64") })).toEqual([first]);
    expect(await shas({ path: "none" })).toEqual([]);
    expect(await shas({ path: "*.md" })).toEqual([]);
  });

  test("all pages list the history of the first page's commit", async () => {
    const other = new Remote();
    const all = Array.from({ length: 7 }, (_, at) => other.commit("main", { f: `${at}\n` })).reverse();
    const { project_id } = await api.project(other.url);
    const found: string[] = [];
    let query = "?limit=3";
    for (;;) {
      const { status, body } = await api.call("GET", `/v1/projects/${project_id}/commits${query}`);
      expect(status).toBe(200);
      found.push(...body.commits.map((row: { sha: string }) => row.sha));
      if (!body.next_cursor) break;
      other.commit("main", { f: `${found.length} later\n` });
      query = `?limit=3&cursor=${body.next_cursor}`;
    }
    expect(found).toEqual(all);
    other.remove();
  });
});

describe("files", () => {
  test("are listed in the root and below, with their kinds", async () => {
    const { body } = await ask("files", { ref: first });
    const rows = Object.fromEntries(body.entries.map((row: { path: string }) => [row.path, row]));
    expect(rows["README.md"]).toEqual({
      name: "README.md",
      path: "README.md",
      type: "file",
      mode: "100644",
      size: 8,
      sha: remote.git("rev-parse", `${first}:README.md`).trim(),
    });
    expect(rows["run"]).toMatchObject({ type: "file", mode: "100755" });
    expect(rows["link"]).toMatchObject({ type: "symlink", mode: "120000", size: 8 });
    expect(rows["vendor"]).toMatchObject({
      type: "submodule",
      mode: "160000",
      size: null,
      sha: "1".repeat(40),
    });
    expect(rows["src"]).toMatchObject({ type: "directory", mode: "040000", size: null });
    expect(rows["\ufffd\ufffd"]).toMatchObject({ name: "\ufffd\ufffd", path_base64: "//4=" });
    const below = await ask("files", { ref: first, path: "src" });
    expect(below.body).toMatchObject({ ref: first, commit_sha: first, path: "src" });
    expect(
      below.body.entries.map((row: object) => [Reflect.get(row, "name"), Reflect.get(row, "path")]),
    ).toEqual([
      ["a.ts", "src/a.ts"],
      ["deep", "src/deep"],
    ]);
    expect((await ask("files", { path: "src/deep/" })).body.entries).toHaveLength(1);
  });

  test("are listed in pages, all of one commit", async () => {
    const whole = (await ask("files", { limit: PAGE_MAX })).body.entries;
    const found: object[] = [];
    for (let cursor: string | undefined; ; ) {
      const { body } = await ask("files", { limit: 5, ...(cursor ? { cursor } : {}) });
      found.push(...body.entries);
      expect([body.ref, body.commit_sha]).toEqual(["main", second]);
      cursor = body.next_cursor;
      if (!cursor) break;
    }
    expect(found).toEqual(whole);
  });

  test("a path that is not a directory is an error that names its kind", async () => {
    const rows: [path: string, says: string][] = [
      ["none", '"main" has no directory "none".'],
      ["README.md/x", "has no directory"],
      ["link/x", "has no directory"],
      ["README.md", "is a file, not a directory"],
      ["link", "is a symbolic link, not a directory"],
      ["vendor", `is a submodule, not a directory: another repository, at commit ${"1".repeat(40)}`],
    ];
    for (const [path, says] of rows) {
      const { status, body } = await ask("files", { path });
      expect([path, status, body.code]).toEqual([path, 404, "not_found"]);
      expect(body.error).toContain(says);
    }
  });
});

describe("contents", () => {
  const contents = async (query: Record<string, string>) => (await ask("contents", query)).body;

  test("are exact: text as text, other files in base64", async () => {
    for (const [name, change] of Object.entries(FILES)) {
      if (typeof change !== "string" && !(change instanceof Uint8Array)) continue;
      const query = name.startsWith(BYTES)
        ? { path_base64: Buffer.from(name.slice(BYTES.length), "latin1").toString("base64") }
        : { path: name };
      const body = await contents({ ref: first, ...query });
      const exact = Buffer.from(body.content, body.encoding === "utf-8" ? "utf8" : "base64");
      expect([name, exact]).toEqual([name, Buffer.from(change as string)]);
      expect(body).toMatchObject({ type: "file", size: exact.length, truncated: false });
      expect(body.encoding).toBe(name === "binary" ? "base64" : "utf-8");
    }
    expect(await contents({ path: "src/a.ts" })).toEqual({
      ref: "main",
      commit_sha: second,
      path: "src/a.ts",
      type: "file",
      mode: "100644",
      size: 3,
      sha: remote.git("rev-parse", "main:src/a.ts").trim(),
      encoding: "utf-8",
      content: "a2\n",
      truncated: false,
    });
  });

  test("of a symbolic link are its target path, not the target's contents", async () => {
    expect(await contents({ path: "link" })).toMatchObject({
      type: "symlink",
      mode: "120000",
      content: "src/a.ts",
    });
    const raw = await ask("contents", { path: "link" }, RAW);
    expect([raw.status, raw.body.code]).toEqual([404, "not_found"]);
    expect(raw.body.error).toContain("symbolic link");
  });

  test("a path that is not a file is an error that names its kind", async () => {
    const rows: [path: string, says: string][] = [
      ["none", '"main" has no file "none".'],
      ["src", "is a directory, not a file"],
      ["vendor", "is a submodule, not a file"],
      ["README.md/x", "has no file"],
    ];
    for (const [path, says] of rows) {
      for (const options of [{}, RAW]) {
        const { status, body } = await ask("contents", { path }, options);
        expect([path, status, body.code]).toEqual([path, 404, "not_found"]);
        expect(body.error).toContain(says);
      }
    }
    expect((await ask("contents")).body).toMatchObject({ code: "validation_failed" });
  });

  test("are truncated after 1 MiB, never within a character", async () => {
    const size = CONTENT_MAX_BYTES;
    const files: Record<string, Change> = { exact: "x".repeat(size), over: "x".repeat(size + 1) };
    for (const [name, character] of [
      ["two", "é"],
      ["three", "漢"],
      ["four", "🎉"],
    ] as const)
      for (const before of [0, 1, 2, 3])
        files[`${name}${before}`] = "x".repeat(before) + character.repeat(size / 2 + 1);
    files["binary"] = Buffer.concat([Buffer.alloc(size - 1, "x"), Uint8Array.of(0xff, 0xff)]);
    files["cut only"] = Buffer.concat([
      Buffer.alloc(size - 2, "x"),
      Uint8Array.of(0xe2, 0x82),
      Buffer.alloc(9),
    ]);
    remote.commit("big", files);
    for (const [path, change] of Object.entries(files)) {
      const body = await contents({ ref: "big", path });
      const bytes = Buffer.from(change as string);
      const text = Buffer.from(body.content, body.encoding === "utf-8" ? "utf8" : "base64");
      expect([path, body.truncated, body.size]).toEqual([path, bytes.length > size, bytes.length]);
      expect([path, body.encoding]).toEqual([path, path === "binary" ? "base64" : "utf-8"]);
      expect(bytes.subarray(0, text.length).equals(text)).toBe(true);
      expect(text.length).toBeGreaterThan(size - 4);
      expect(text.length).toBeLessThanOrEqual(size);
    }
  });
});

describe("raw contents", () => {
  const rawUrl = (query: Record<string, string>) =>
    `${api.url}/v1/projects/${project.project_id}/contents?${new URLSearchParams(query)}`;
  const fetchRaw = (query: Record<string, string>, init: RequestInit = {}) =>
    fetch(rawUrl(query), {
      ...init,
      headers: { Authorization: `Bearer ${api.token}`, Accept: "application/octet-stream" },
    });

  test("are the unchanged bytes, with a type that browsers do not execute", async () => {
    const path = "<script>'(*)\".html";
    const response = await fetchRaw({ ref: first, path });
    expect(await response.text()).toBe("<script>alert(1)</script>");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
      "content-disposition": "attachment; filename*=UTF-8''%3Cscript%3E%27%28%2a%29%22.html",
      "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const odd = await fetchRaw({ ref: first, path: "a\tb\nc" });
    expect(odd.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''a%09b%0Ac");
    for (const [path, size] of [
      ["empty", 0],
      ["binary", 4],
      ["nul in text", 3],
    ] as const) {
      const bytes = new Uint8Array(await (await fetchRaw({ path })).arrayBuffer());
      expect([path, bytes.length]).toEqual([path, size]);
    }
    const nameless = await fetchRaw({ path_base64: "//4=" });
    expect(await nameless.text()).toBe("bytes\n");
  });

  test("of a large file are complete; HEAD and disconnected readers cost nothing", async () => {
    const content = Buffer.alloc(20_000_000, "0123456789abcdef\n");
    remote.commit("large", { f: content });
    const response = await fetchRaw({ ref: "large", path: "f" });
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
    for (let times = 0; times < 6; times++) {
      const head = await fetchRaw({ ref: "large", path: "f" }, { method: "HEAD" });
      expect([head.status, await head.text()]).toEqual([200, ""]);
      const left = await fetchRaw({ ref: "large", path: "f" });
      await left.body?.cancel();
    }
    // places of the gate that were not given back would show here
    const again = await fetchRaw({ ref: "large", path: "f" });
    expect((await again.arrayBuffer()).byteLength).toBe(content.length);
  });

  test("over 100 MiB are rejected before the first byte; as JSON their beginning is available", async () => {
    const blob = Buffer.alloc(FILE_MAX_BYTES + 1);
    const id = git(["-C", remote.path, "hash-object", "-w", "--stdin"], blob).trim();
    const tree = git(["-C", remote.path, "mktree"], Buffer.from(`100644 blob ${id}\thuge\n`)).trim();
    remote.git("update-ref", "refs/heads/huge", remote.git("commit-tree", "-m", "x", tree).trim());
    const raw = await ask("contents", { ref: "huge", path: "huge" }, RAW);
    expect([raw.status, raw.body.code]).toEqual([413, "payload_too_large"]);
    expect(raw.body.error).toContain('"huge" has 101 MiB, more than the limit of 100 MiB');
    const { body } = await ask("contents", { ref: "huge", path: "huge" });
    expect(body).toMatchObject({ size: FILE_MAX_BYTES + 1, truncated: true, encoding: "utf-8" });
    expect(body.content).toHaveLength(CONTENT_MAX_BYTES);
  });
});

test("rejects paths outside of the repository and unknown paths on every route", async () => {
  const paths = [
    "..",
    "../x",
    "src/../README.md",
    "./src",
    "/etc/passwd",
    "//",
    "src//a.ts",
    "src/a.ts//",
    ".git",
    ".git/config",
    "src/.GIT/x",
    "a\0b",
    "x".repeat(4097),
  ];
  for (const what of ["commits", "files", "contents"]) {
    for (const path of paths) {
      const { status, body } = await ask(what, { path });
      expect([what, path.slice(0, 20), status, body.code]).toEqual([
        what,
        path.slice(0, 20),
        400,
        "validation_failed",
      ]);
      expect(body.details).toHaveLength(1);
    }
    expect((await ask(what, { path_base64: Buffer.from("../x").toString("base64") })).status).toBe(400);
    expect((await ask(what, { path_base64: "!" })).status).toBe(400);
    expect((await ask(what, { path: "a", path_base64: "YQ==" })).status).toBe(400);
  }
});

test("validates limits and cursors", async () => {
  const encode = (text: string) => Buffer.from(text).toString("base64url");
  for (const what of ["branches", "commits", "files"]) {
    for (const limit of ["0", "-1", "201", "1.5", "x", "1000"])
      expect([what, limit, (await ask(what, { limit })).status]).toEqual([what, limit, 400]);
    expect((await ask(what, { limit: PAGE_MAX })).status).toBe(200);
    for (const cursor of [
      "x",
      "",
      encode("main"),
      encode(`${first}.0`),
      encode(`${first}.-1`),
      encode("2x"),
      "x".repeat(401),
    ])
      expect([what, cursor, (await ask(what, { cursor })).status]).toEqual([what, cursor, 400]);
  }
  const gone = await ask("commits", { cursor: encode(`${"f".repeat(40)}.5`) });
  expect([gone.status, gone.body.code]).toEqual([400, "ref_not_found"]);
  expect((await ask("commits", { cursor: encode(`${first}.99`) })).body).toEqual({ commits: [] });
  expect((await ask("files", { cursor: encode(`${first}.9999`) })).body.entries).toEqual([]);
});

test("only the project's tokens and members can read", async () => {
  const stranger = await api.mint("stranger@example.com");
  const { body } = await api.call("POST", `/v1/projects/${project.project_id}/cli-token`);
  for (const what of ["branches", "commits", "files", "contents"]) {
    const query = what === "contents" ? { path: "README.md" } : {};
    expect((await ask(what, query, { token: null })).status).toBe(401);
    expect((await ask(what, query, { token: stranger })).status).toBe(403);
    expect((await ask(what, query, { token: body.token })).status).toBe(200);
    expect((await api.call("GET", `/v1/projects/none/${what}?path=a`)).status).toBe(404);
    expect((await api.call("POST", `/v1/projects/${project.project_id}/${what}`)).status).toBe(405);
  }
});

test("reads a repository that svc hosts like any other", async () => {
  const folder = `${api.dataDir}/repositories`;
  const known = new Set(readdirSync(folder));
  const made = await api.call("POST", "/v1/projects", { body: { name: "Hosted too" } });
  const [name = ""] = readdirSync(folder).filter((each) => !known.has(each));
  const hosted = `${folder}/${name}`;
  git([
    "-C",
    hosted,
    "fetch",
    "--quiet",
    remote.path,
    `${second}:refs/heads/main`,
    "refs/tags/v1:refs/tags/v1",
  ]);
  const at = `/v1/projects/${made.body.project_id}`;
  expect((await api.call("GET", `${at}/branches`)).body.branches).toEqual([
    { name: "main", commit_sha: second, is_default: true },
  ]);
  expect((await api.call("GET", `${at}/commits`)).body.commits).toHaveLength(2);
  expect((await api.call("GET", `${at}/files?ref=v1`)).body.commit_sha).toBe(first);
  expect((await api.call("GET", `${at}/contents?path=src/a.ts`)).body.content).toBe("a2\n");
});

test("an unreachable host is 502", async () => {
  const other = new Remote();
  other.commit("main", { a: "1\n" });
  const { project_id } = await api.project(other.url);
  const at = `/v1/projects/${project_id}`;
  const { body } = await api.call("GET", `${at}/files`);
  other.remove();
  for (const what of ["branches", "commits", "files", "contents?path=a"]) {
    const answer = await api.call("GET", `${at}/${what}`);
    expect([what, answer.status, answer.body.code]).toEqual([what, 502, "repo_unreachable"]);
  }
  // svc's copy needs no host
  const kept = await api.call("GET", `${at}/contents?path=a&ref=${body.commit_sha}`);
  expect([kept.status, kept.body.content]).toEqual([200, "1\n"]);
});

test("every response matches the contract's schema exactly", async () => {
  setFormats();
  const rows = [
    ...(await ask("branches")).body.branches.map((row: unknown) => [branch, row]),
    ...(await ask("commits")).body.commits.map((row: unknown) => [commit, row]),
    [directory, (await ask("files")).body],
    [directory, (await ask("files", { limit: 1 })).body],
    [fileContents, (await ask("contents", { path: "link" })).body],
    [fileContents, (await ask("contents", { path_base64: "//4=" })).body],
  ];
  for (const [schema, body] of rows) {
    expect([...Value.Errors(schema, body)].map((error) => [error.path, error.message])).toEqual([]);
    expect(Value.Clean(schema, structuredClone(body))).toEqual(body);
  }
});
