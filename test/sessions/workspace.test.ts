import { afterAll, beforeAll, describe, expect } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DiffFile } from "../../src/contract/change-request.ts";
import { FOLDER_ENTRIES_MAX } from "../../src/contract/limits.ts";
import { runClient } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type Proxied, startProxied } from "../helpers/proxied.ts";
import { changeRun } from "../helpers/session-row.ts";

const test = needs("a real Postgres", POSTGRES);
let proxied: Proxied;
let own: string;
let at: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  proxied = await startProxied();
  own = `/v1/projects/${proxied.bench.hosted.project.project_id}/sessions/${proxied.session.id}`;
  at = proxied.sandbox.workspace;
});
afterAll(() => proxied?.stop());

const get = (path: string, headers: Record<string, string> = {}) => {
  const { url, token } = proxied.bench.api;
  return fetch(`${url}${own}${path}`, { headers: { Authorization: `Bearer ${token}`, ...headers } });
};
const inQuery = (path: string | Buffer) =>
  typeof path === "string"
    ? `path=${encodeURIComponent(path)}`
    : `path_base64=${encodeURIComponent(path.toString("base64"))}`;
const list = async (path: string | Buffer = "") => (await get(`/files?${inQuery(path)}`)).json();
const names = async (path = "") => (await list(path)).entries.map(({ name }: { name: string }) => name);
const file = (path: string | Buffer, range?: string) =>
  get(`/contents?${inQuery(path)}`, range === undefined ? {} : { Range: range });
const changes = async () => (await get("/diff")).json();
const patch = (path = "") => get(`/diff?${inQuery(path)}`, { Accept: "text/x-diff" });
const git = (...args: string[]) => runClient(at, ...args);

/** The changes, by path: status, and lines. */
async function changed(): Promise<Record<string, string>> {
  const { files } = await changes();
  return Object.fromEntries(
    files.map(({ path, status, additions, deletions, binary }: DiffFile) => [
      path,
      `${status} ${binary ? "binary" : `+${additions} -${deletions}`}`,
    ]),
  );
}

describe("the files of a workspace", () => {
  test("are listed folder by folder, as they are, and read whole or in part", async () => {
    mkdirSync(join(at, "src/deep"), { recursive: true });
    writeFileSync(join(at, "src/z.txt"), "0123456789");
    writeFileSync(join(at, "empty"), "");
    expect(await names()).toEqual(
      ["src", "a.txt", "empty", "svc.toml"].filter((name) => existsSync(join(at, name))),
    );
    expect((await list("src")).entries).toEqual([
      { name: "deep", path: "src/deep", type: "directory", size: null },
      { name: "z.txt", path: "src/z.txt", type: "file", size: 10 },
    ]);
    const rows: [range: string | undefined, status: number, text: string, part: string | null][] = [
      [undefined, 200, "0123456789", null],
      ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
      ["bytes=4-4", 206, "4", "bytes 4-4/10"],
      ["bytes=7-", 206, "789", "bytes 7-9/10"],
      ["bytes=7-99", 206, "789", "bytes 7-9/10"],
      // what is no such part of the file gets the whole of it
      ["bytes=10-", 200, "0123456789", null],
      ["bytes=5-2", 200, "0123456789", null],
      ["bytes=-3", 200, "0123456789", null],
      ["bytes=0-1,3-4", 200, "0123456789", null],
    ];
    for (const [range, status, text, part] of rows) {
      const answer = await file("src/z.txt", range);
      const seen = [range, answer.status, await answer.text(), answer.headers.get("content-range")];
      expect(seen).toEqual([range, status, text, part]);
      expect(answer.headers.get("content-length")).toBe(String(text.length));
    }
    expect(await (await file("empty", "bytes=0-9")).text()).toBe("");
    const { headers } = await file("src/z.txt");
    expect(headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''z.txt");
    expect(headers.get("content-security-policy")).toContain("sandbox");
  });

  test("never lead out of it, and only files are opened", async () => {
    const outside = mkdtempSync(join(tmpdir(), "svc-outside-"));
    writeFileSync(join(outside, "secret"), "secret");
    symlinkSync(outside, join(at, "out"));
    symlinkSync(join(outside, "secret"), join(at, "link"));
    symlinkSync("src", join(at, "inner"));
    execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", join(at, "pipe")]);
    for (const [path, type] of [
      ["out", "symlink"],
      ["link", "symlink"],
      ["pipe", "other"],
    ])
      expect((await list()).entries).toContainEqual({ name: path, path, type, size: null });
    for (const path of ["out/secret", "link", "inner/z.txt", "inner", "pipe", "src", "none", "src/z.txt/x"])
      expect([path, (await file(path)).status]).toEqual([path, 404]);
    for (const path of ["out", "inner", "inner/deep", "pipe", "none"])
      expect([path, (await get(`/files?${inQuery(path)}`)).status]).toEqual([path, 404]);
    for (const path of ["../x", "src/../../x", "/etc/passwd", ".git/config", "a//b", "src/./z.txt", "a\0b"])
      expect([path, (await file(path)).status]).toEqual([path, 400]);
    expect((await file("")).status).toBe(400);
    for (const name of ["out", "link", "inner", "pipe"]) rmSync(join(at, name));
    rmSync(outside, { recursive: true });
  });

  test("have any name, and any size", async () => {
    mkdirSync(join(at, "odd"));
    const odd = [
      'a\n"b"\t\\',
      "<img src=x onerror=alert(1)>",
      "\u001b]0;title\u0007",
      "-rf",
      "\u202egnp.exe",
    ];
    for (const name of odd) writeFileSync(join(at, "odd", name), name);
    const raw = Buffer.from("odd/\xff\xfe", "latin1");
    writeFileSync(Buffer.concat([Buffer.from(`${at}/`), raw]), "raw");
    const { entries } = await list("odd");
    expect(entries.map(({ name }: { name: string }) => name).toSorted()).toEqual(
      [...odd, "\ufffd\ufffd"].toSorted(),
    );
    for (const name of odd) expect(await (await file(`odd/${name}`)).text()).toBe(name);
    expect(entries.find((each: object) => "path_base64" in each).path_base64).toBe(raw.toString("base64"));
    expect(await (await file(raw)).text()).toBe("raw");
    expect((await changed())["odd/-rf"]).toBe("added +1 -0");
    for (const name of odd) expect(await (await patch(`odd/${name}`)).text()).toMatch(/^\+[^+]/m);
    rmSync(join(at, "odd"), { recursive: true });

    const size = 5 * 1024 ** 3;
    writeFileSync(join(at, "huge"), "");
    truncateSync(join(at, "huge"), size);
    const part = await file("huge", `bytes=${size - 4}-`);
    expect(part.headers.get("content-range")).toBe(`bytes ${size - 4}-${size - 1}/${size}`);
    expect((await part.bytes()).length).toBe(4);
    expect((await changed())["huge"]).toBe("added binary");
    const whole = await patch();
    expect(whole.headers.get("svc-patch-omitted")).toBe("1");
    expect(await whole.text()).not.toContain("huge");
    rmSync(join(at, "huge"));
  });

  test("of a large folder are bounded, and the rest is counted", async () => {
    mkdirSync(join(at, "many"));
    const count = FOLDER_ENTRIES_MAX + 3;
    for (let number = 0; number < count; number++) writeFileSync(join(at, `many/${number}`), "");
    const { entries, more } = await list("many");
    expect([entries.length, more]).toEqual([FOLDER_ENTRIES_MAX, 3]);
    const all = await changes();
    expect(all.files.length + all.more).toBeGreaterThanOrEqual(count);
    expect(all.more).toBeGreaterThanOrEqual(3);
    rmSync(join(at, "many"), { recursive: true });
  });
});

describe("the changes of a workspace", () => {
  test("are those since the branch left the default branch, committed or not, and a patch of them", async () => {
    await git("reset", "-q", "--hard");
    await git("clean", "-qfdx");
    await git("update-ref", "refs/remotes/origin/main", "HEAD");
    const base = String(execFileSync("git", ["rev-parse", "HEAD"], { cwd: at })).trim();
    writeFileSync(join(at, "committed"), "1\n2\n");
    writeFileSync(join(at, ".gitignore"), "ignored\n");
    await git("add", ".");
    await git("commit", "-qm", "work");
    appendFileSync(join(at, "a.txt"), "more\n");
    writeFileSync(join(at, "staged"), "s\n");
    await git("add", "staged");
    appendFileSync(join(at, "staged"), "and not\n");
    writeFileSync(join(at, "untracked"), "no newline");
    writeFileSync(join(at, "binary"), Buffer.from([0, 1, 2]));
    writeFileSync(join(at, "ignored"), "");
    writeFileSync(join(at, "tool.sh"), "#!/bin/sh\n");
    chmodSync(join(at, "tool.sh"), 0o755);
    symlinkSync("/nowhere", join(at, "link"));
    await runClient(at, "init", "-q", "nested");
    const status = String(execFileSync("git", ["status", "--porcelain"], { cwd: at }));
    expect(await changed()).toEqual({
      ".gitignore": "added +1 -0",
      "a.txt": "modified +1 -0",
      binary: "added binary",
      committed: "added +2 -0",
      link: "added +1 -0",
      staged: "added +2 -0",
      "tool.sh": "added +1 -0",
      untracked: "added +1 -0",
    });
    expect((await changes()).base).toBe(base);
    const copy = mkdtempSync(join(tmpdir(), "svc-applied-"));
    execFileSync("git", ["clone", "-q", at, copy]);
    execFileSync("git", ["checkout", "-q", base], { cwd: copy });
    execFileSync("git", ["apply"], { cwd: copy, input: await (await patch()).text() });
    for (const name of ["a.txt", "binary", "committed", "staged", "untracked", "tool.sh"])
      expect(readFileSync(join(copy, name))).toEqual(readFileSync(join(at, name)));
    rmSync(copy, { recursive: true });
    const one = await (await patch("a.txt")).text();
    expect(one.match(/^diff --git/gm)).toEqual(["diff --git"]);
    // the workspace is as it was: nothing was added to its index, and no copy is left
    expect(String(execFileSync("git", ["status", "--porcelain"], { cwd: at }))).toBe(status);
    expect(readdirSync(join(proxied.sandbox.home, ".svc-workspace"))).toEqual([]);
  });

  test("have a version that changes with their content, and only then", async () => {
    const { version } = await changes();
    expect((await changes()).version).toBe(version);
    writeFileSync(join(at, "untracked"), "No newline");
    const after = await changes();
    expect(after.version).not.toBe(version);
    await git("rm", "-q", "--cached", "staged");
    rmSync(join(at, "staged"));
    expect((await changes()).version).not.toBe(after.version);
  });

  test("include files with a conflict once, and no settings of the repository change the patch", async () => {
    const seen = join(proxied.sandbox.folder, "seen");
    const script = join(proxied.sandbox.folder, "spy");
    writeFileSync(script, `#!/bin/sh\nenv >>${seen}\n`, { mode: 0o755 });
    for (const [key, value] of [
      ["core.fsmonitor", script],
      ["core.hooksPath", proxied.sandbox.folder],
      ["diff.external", script],
      ["diff.spy.textconv", script],
      ["diff.spy.command", script],
      ["diff.noprefix", "true"],
      ["diff.mnemonicPrefix", "true"],
      ["color.ui", "always"],
      ["core.pager", script],
    ] as const)
      await git("config", key, value);
    mkdirSync(join(at, ".git/info"), { recursive: true });
    writeFileSync(join(at, ".git/info/attributes"), "* diff=spy\n");
    await git("switch", "-qc", "other", "HEAD~1");
    writeFileSync(join(at, "committed"), "theirs\n");
    await git("add", "-f", "committed");
    await git("commit", "-qm", "theirs");
    await git("merge", "-q", proxied.session.id).catch(() => {});
    // the agent's own git runs what it configures
    rmSync(seen, { force: true });
    const files = (await changes()).files.filter(({ path }: DiffFile) => path === "committed");
    expect(files).toHaveLength(1);
    const text = await (await patch("committed")).text();
    expect(text).toContain("diff --git a/committed b/committed");
    expect(text).toContain("+<<<<<<< ");
    expect(text).not.toContain("Unmerged");
    expect(existsSync(seen)).toBe(false);
  });

  test("of a workspace without a repository are refused, and the files are still there", async () => {
    renameSync(join(at, ".git"), join(at, "away"));
    const refused = await get("/diff");
    expect([refused.status, (await refused.json()).code]).toEqual([502, "sandbox_unreachable"]);
    expect((await patch()).status).toBe(502);
    expect(await names()).toContain("a.txt");
    renameSync(join(at, "away"), join(at, ".git"));
  });
});

test("nobody reads the files of a session that does not run, or is of another account", async () => {
  const { bench, session } = proxied;
  const stranger = await bench.api.mint("workspace-stranger@example.com");
  for (const path of ["/files", "/contents?path=a.txt", "/diff"]) {
    await changeRun(bench.db, session.id, { status: "stopped" });
    const stopped = await bench.api.call("GET", `${own}${path}`);
    await changeRun(bench.db, session.id, { status: "running" });
    expect([path, stopped.status, stopped.body.code]).toEqual([path, 503, "not_running"]);
    expect((await bench.api.call("GET", `${own}${path}`, { token: stranger })).status).toBe(403);
    expect((await bench.api.call("GET", `${own}${path}`, { token: session.token })).status).toBe(200);
  }
});
