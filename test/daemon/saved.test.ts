import { describe, expect, spyOn, test } from "bun:test";
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { killFound } from "../helpers/processes.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";
import { CLI_TOKEN, CLONE_TOKEN, SERVICE_KEY } from "../helpers/sandbox.ts";
import { type Life, type SavingBench, startSaving } from "../helpers/saving.ts";
import { until } from "../helpers/until.ts";

const filesOf = async (bench: SavingBench, ref = bench.ref) =>
  (await bench.repository.git("ls-tree", "-r", "--name-only", "-z", ref)).split("\0").filter(Boolean);
const messageOf = (bench: SavingBench) => bench.repository.git("log", "-1", "--format=%B", bench.ref);
const put = (life: Life, path: string, text: string | Uint8Array) => {
  const file = join(life.workspace, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
};
/** The tree that everything which is not ignored would make. */
const contentOf = async (life: Life): Promise<string> => {
  await life.git("add", "-A");
  return await life.git("write-tree");
};

describe("saving", () => {
  test("pushes unpushed work to a ref of the session; the workspace and the branch do not change", async () => {
    using bench = await startSaving({ "a.txt": "1\n", ".gitignore": "ignored\n" });
    const life = await bench.life();
    const branch = await bench.repository.git("rev-parse", bench.sessionId);
    appendFileSync(join(life.workspace, "a.txt"), "2\n");
    put(life, "new/b", "b\n");
    put(life, "staged", "s\n");
    put(life, "ignored", "x\n");
    await life.git("add", "staged");
    const look = async () => [
      await life.git("status", "--porcelain=v2", "--branch"),
      await life.git("for-each-ref"),
      await life.git("count-objects", "-v"),
      await life.git("reflog"),
      readFileSync(join(life.workspace, ".git/index")).toString("base64"),
    ];
    const before = await look();
    await life.save();
    expect(life.saver.problem).toBeNull();
    expect(life.saver.saved?.commit).toBe((await bench.saved()) ?? "");
    expect(await filesOf(bench)).toEqual([".gitignore", "a.txt", "new/b", "staged"]);
    expect(await bench.repository.git("show", `${bench.ref}:a.txt`)).toBe("1\n2");
    expect(await bench.repository.git("rev-parse", `${bench.ref}^`)).toBe(branch);
    expect(await bench.repository.git("rev-parse", bench.sessionId)).toBe(branch);
    expect(await look()).toEqual(before);
  });

  test("sends nothing without changes, and deletes the ref when everything is pushed", async () => {
    using bench = await startSaving();
    const life = await bench.life();
    await life.save();
    expect(await bench.saved()).toBeNull();
    put(life, "a.txt", "2\n");
    await life.save();
    const first = await bench.saved();
    expect(first).not.toBeNull();
    await life.save();
    expect(await bench.saved()).toBe(first);
    await life.git("commit", "-qam", "mine");
    await life.save();
    expect(await bench.repository.git("log", "-1", "--format=%s", `${bench.ref}^`)).toBe("mine");
    await life.git("push", "-q", "origin", "HEAD");
    await life.save();
    expect(await bench.saved()).toBeNull();
    expect(life.saver.saved).toBeNull();
  });

  test("does not send again what is already saved", async () => {
    using bench = await startSaving();
    const life = await bench.life();
    put(life, "large", randomBytes(5_000_000));
    await life.save();
    const sizeOf = async () => {
      const [, loose, packed] =
        /size: (\d+).*size-pack: (\d+)/s.exec(await bench.repository.git("count-objects", "-v")) ?? [];
      return Number(loose) + Number(packed);
    };
    const first = await sizeOf();
    put(life, "small", "s\n");
    await life.save();
    expect(await filesOf(bench)).toEqual(["a.txt", "large", "small"]);
    expect(first).toBeGreaterThan(4_000);
    expect((await sizeOf()) - first).toBeLessThan(100);
  });

  test("keeps work of an earlier sandbox that was not restored", async () => {
    using bench = await startSaving();
    const one = await bench.life();
    put(one, "one", "1\n");
    await one.save();
    const first = (await bench.saved()) ?? "";
    const two = await bench.life();
    await two.save();
    expect(await bench.saved()).toBe(first);
    put(two, "two", "2\n");
    await two.save();
    put(two, "two", "22\n");
    await two.save();
    expect(await bench.repository.git("rev-parse", `${bench.ref}^2`)).toBe(first);
    // both come back together
    const three = await bench.life({ restore: true });
    const read = (life: Life, path: string) => readFileSync(join(life.workspace, path), "utf8");
    expect([bench.refusal, read(three, "two"), read(three, "one")]).toEqual([null, "22\n", "1\n"]);
    expect(await three.git("status", "--porcelain")).toBe("?? one\n?? two\n");
    await three.save();
    expect(await bench.repository.git("log", "-1", "--format=%P", bench.ref)).toBe(
      await bench.repository.git("rev-parse", bench.sessionId),
    );
  });
});

test("work of an earlier sandbox that conflicts with a later one's stays saved until it is pushed", async () => {
  using bench = await startSaving();
  const one = await bench.life();
  put(one, "a.txt", "one\n");
  await one.save();
  const first = await bench.saved();
  const two = await bench.life();
  put(two, "a.txt", "two\n");
  await two.save();
  const three = await bench.life({ restore: true });
  expect(readFileSync(join(three.workspace, "a.txt"), "utf8")).toBe("two\n");
  expect(await three.git("status", "--porcelain")).toBe(" M a.txt\n");
  await three.git("commit", "-qam", "done");
  await three.git("push", "-q", "origin", "HEAD");
  await three.save();
  // what the first had is nowhere else
  expect(await bench.saved()).toBe(first);
});

describe("excluded from saved work", () => {
  const SECRET = "hunter2-hunter2";
  const TOKEN = `svc_pat_${"x".repeat(43)}`;

  test("values of secrets, svc's tokens, and files that hold credentials by their name", async () => {
    using bench = await startSaving({ "a.txt": "1\n", "kept.env": "A=1\n", ".npmrc": "registry=x\n" });
    const life = await bench.life({ secrets: [SECRET, "short"] });
    put(life, "a.txt", `1\n${SECRET}\n`);
    put(life, "b.txt", `token ${TOKEN}.`);
    put(life, "about-tokens.txt", "a token begins with svc_pat_ and is short\n");
    put(life, ".env", "A=1\n");
    put(life, "deep/.env.local", "A=1\n");
    put(life, ".env.example", "A=\n");
    put(life, ".npmrc", "registry=y\n");
    put(life, "id_ed25519", "k");
    put(life, "staged.pem", "k");
    put(life, `${SECRET}/name`, "n");
    put(life, "large-with-secret", Buffer.concat([Buffer.alloc(3_000_000, "x"), Buffer.from(SECRET)]));
    await life.git("add", "-f", "staged.pem");
    await life.save();
    expect(life.saver.problem).toBeNull();
    expect(await filesOf(bench)).toEqual([".env.example", ".npmrc", "a.txt", "about-tokens.txt", "kept.env"]);
    expect(await bench.repository.git("show", `${bench.ref}:a.txt`)).toBe("1");
    expect(await bench.repository.git("show", `${bench.ref}:.npmrc`)).toBe("registry=y");
    const message = await messageOf(bench);
    for (const path of [
      "a.txt",
      "b.txt",
      ".env",
      "deep/.env.local",
      "id_ed25519",
      "staged.pem",
      "(a name that",
    ])
      expect(message).toContain(`  ${path}`);
    expect(message).not.toContain(SECRET);
    const objects = await bench.repository.git("cat-file", "--batch", "--batch-all-objects");
    expect([objects.includes(SECRET), objects.includes(TOKEN)]).toEqual([false, false]);
  });

  test.each(["a file of it", "its message", "the name of a folder"])(
    "a commit with a secret in %s is saved only as its files, without the commit",
    async (where) => {
      using bench = await startSaving();
      const life = await bench.life({ secrets: [SECRET] });
      put(life, "fine", "f\n");
      if (where === "a file of it") put(life, "leak", `x ${SECRET}\n`);
      if (where === "the name of a folder") put(life, `${SECRET}/leak`, "x\n");
      await life.git("add", "-A");
      await life.git("commit", "-qm", where === "its message" ? `Use ${SECRET}` : "m");
      put(life, "more", "m\n");
      await life.save();
      expect(life.saver.problem).toBeNull();
      expect(await filesOf(bench)).toEqual(["a.txt", "fine", "more"]);
      expect(await bench.repository.git("rev-parse", `${bench.ref}^`)).toBe(
        await bench.repository.git("rev-parse", bench.sessionId),
      );
      expect(await messageOf(bench)).toContain("only the files of the commits are saved");
      const objects = await bench.repository.git("cat-file", "--batch", "--batch-all-objects");
      expect(objects).not.toContain(SECRET);
    },
  );

  test("commits with a secret, also if it was removed later", async () => {
    using bench = await startSaving();
    const life = await bench.life({ secrets: [SECRET] });
    put(life, "leak", SECRET);
    await life.git("add", "-A");
    await life.git("commit", "-qm", "one");
    await life.git("rm", "-q", "leak");
    put(life, "two", "2\n");
    await life.git("add", "-A");
    await life.git("commit", "-qm", "two");
    await life.save();
    expect(await filesOf(bench)).toEqual(["a.txt", "two"]);
    expect(await bench.repository.git("cat-file", "--batch", "--batch-all-objects")).not.toContain(SECRET);
  });

  test("files that are too large and nested repositories, which are listed", async () => {
    using bench = await startSaving();
    const life = await bench.life();
    put(life, "large", "");
    truncateSync(join(life.workspace, "large"), 51 * 1024 * 1024);
    put(life, "small", "s");
    put(life, "inner/file", "x");
    await life.git("init", "-q", "inner");
    await life.save();
    expect(life.saver.problem).toBeNull();
    expect(await filesOf(bench)).toEqual(["a.txt", "small"]);
    const message = await messageOf(bench);
    for (const line of ["large: a new file", "inner/: a nested repository"]) expect(message).toContain(line);
  });
});

describe("a hostile workspace", () => {
  test("hooks and monitors do not run, a failing filter does not block, and odd names are saved", async () => {
    using bench = await startSaving();
    const life = await bench.life();
    const seen = join(life.home, "seen");
    const script = join(life.home, "evil");
    writeFileSync(script, `#!/bin/sh\necho "$0" >>${seen}\nexit 1\n`, { mode: 0o755 });
    mkdirSync(join(life.home, "hooks"));
    for (const hook of ["pre-commit", "post-index-change", "reference-transaction", "pre-push"])
      symlinkSync(script, join(life.home, "hooks", hook));
    for (const [key, value] of [
      ["core.fsmonitor", script],
      ["core.hooksPath", join(life.home, "hooks")],
      ["diff.external", script],
      ["diff.evil.textconv", script],
      ["filter.evil.clean", script],
      ["core.bare", "true"],
      ["core.worktree", "/"],
      ["core.splitIndex", "true"],
      ["status.showUntrackedFiles", "no"],
      ["gpg.program", script],
      ["commit.gpgSign", "true"],
      ["core.alternateRefsCommand", script],
    ] as const)
      await life.git("config", "-f", join(life.workspace, ".git/config"), key, value);
    put(life, ".gitattributes", "*.x diff=evil\n*.f filter=evil\n");
    for (const name of ["-rf", "--all", "a\nb", ":(top)x", "t\t", '"quoted"', "ü", "sub dir/*"])
      put(life, name, "x");
    writeFileSync(Buffer.concat([Buffer.from(`${life.workspace}/`), Buffer.from([0xff, 0xfe])]), "bytes");
    put(life, "one.x", "x");
    put(life, "one.f", "f");
    symlinkSync("/etc/passwd", join(life.workspace, "out"));
    symlinkSync("..", join(life.workspace, "up"));
    await life.save();
    expect(life.saver.problem).toBeNull();
    const names = (await bench.repository.git("ls-tree", "-r", "--name-only", "-z", bench.ref)).split("\0");
    for (const name of [
      "-rf",
      "--all",
      "a\nb",
      ":(top)x",
      "t\t",
      '"quoted"',
      "sub dir/*",
      "one.x",
      "out",
      "up",
    ])
      expect(names).toContain(name);
    const passwd = await bench.repository.git("cat-file", "--batch", "--batch-all-objects");
    expect(passwd).not.toContain("root:");
    const ran = existsSync(seen) ? readFileSync(seen, "utf8").trim().split("\n") : [];
    // a filter is how the agent's own repository says what a file's content is
    expect(new Set(ran).size).toBeLessThanOrEqual(1);
  });

  describe("with a filter of its own", () => {
    const filtered = async (life: Life, clean: string) => {
      put(life, ".gitattributes", "*.f filter=own\n");
      put(life, "one.f", "text\n");
      await life.git("config", "-f", join(life.workspace, ".git/config"), "filter.own.clean", clean);
    };

    test("that never ends: it is killed at the time limit, and the next save works", async () => {
      using bench = await startSaving();
      const life = await bench.life();
      await filtered(life, `echo $$ >'${life.home}/pid'; exec sleep 3600`);
      // the limit passes once the filter runs
      const late = new AbortController();
      const timeout = spyOn(AbortSignal, "timeout").mockReturnValueOnce(late.signal);
      const saving = life.saver.save(3_000);
      const pid = () => readFileSync(join(life.home, "pid"), "utf8").trim();
      await until("it runs", () => existsSync(join(life.home, "pid")) && pid() !== "");
      late.abort();
      await saving;
      expect(timeout.mock.calls[0]).toEqual([3_000]);
      timeout.mockRestore();
      expect(life.saver.problem).toBe("Unpushed work could not be saved: it took longer than 3 s.");
      expect(await bench.saved()).toBeNull();
      await until("it is ended", () => !existsSync(`/proc/${pid()}`));
      await life.git("config", "--unset", "filter.own.clean");
      await life.save();
      expect([life.saver.problem, await filesOf(bench)]).toEqual([
        null,
        [".gitattributes", "a.txt", "one.f"],
      ]);
    });

    test("that leaves a process with its output open: the save does not wait for it", async () => {
      using bench = await startSaving();
      const life = await bench.life();
      await filtered(life, `setsid sh -c 'echo $$ >"${life.home}/pid"; exec sleep 3600' >&2 & exec cat`);
      await life.save();
      killFound(Number(readFileSync(join(life.home, "pid"), "utf8")), "SIGKILL");
      expect(life.saver.problem).toBeNull();
      expect(await bench.repository.git("show", `${bench.ref}:one.f`)).toBe("text");
    });

    test("that runs as the agent, without secrets of the daemon", async () => {
      using bench = await startSaving();
      const life = await bench.life({ apart: true });
      await filtered(
        life,
        `{ id -u; id -G; tr '\\0' '\\n' </proc/$PPID/environ; env; } >>'${life.home}/seen'; cat`,
      );
      await life.save();
      expect([life.saver.problem, await filesOf(bench)]).toEqual([
        null,
        [".gitattributes", "a.txt", "one.f"],
      ]);
      const seen = readFileSync(join(life.home, "seen"), "utf8");
      expect(seen).toStartWith(process.getuid?.() === 0 ? "48123\n48124\n" : `${process.getuid?.()}\n`);
      for (const secret of [SERVICE_KEY, CLI_TOKEN, CLONE_TOKEN, "Authorization"])
        expect(seen).not.toContain(secret);
    });
  });

  test("a workspace without its repository is reported, and saved once it is back", async () => {
    using bench = await startSaving();
    const life = await bench.life();
    put(life, "a.txt", "2\n");
    renameSync(join(life.workspace, ".git"), join(life.home, "away"));
    await life.save();
    expect(life.saver.problem).toContain("could not be saved");
    renameSync(join(life.home, "away"), join(life.workspace, ".git"));
    await life.save();
    expect([life.saver.problem, await bench.saved()]).toEqual([null, expect.any(String)]);
  });

  test("files that git may not read are listed, and the rest is saved", async () => {
    using bench = await startSaving();
    const life = await bench.life({ apart: true });
    put(life, "closed", "x");
    put(life, "open", "x");
    chmodSync(join(life.workspace, "closed"), 0);
    await life.save();
    expect(life.saver.problem).toBeNull();
    expect(await filesOf(bench)).toEqual(["a.txt", "open"]);
    expect(await messageOf(bench)).toContain("closed: git could not read it");
  });
});

describe("restoring", () => {
  type Step = (life: Life, n: number) => unknown;
  const NAMES = ["a.txt", "b", "dir/c", "dir/d e", "-dash", "nl\nname", "deep/er/f", "x.bin"];
  const name = (n: number) => NAMES[n % NAMES.length] ?? "a.txt";
  const STEPS: Record<string, Step> = {
    write: (life, n) => writeSafely(life, name(n), `text ${n}\n`),
    append: (life, n) => appendFileSync(join(life.workspace, "a.txt"), `${n}\n`),
    binary: (life, n) => writeSafely(life, "x.bin", Buffer.from([0, 255, n, 10, 13])),
    bytes: (life, n) =>
      writeFileSync(Buffer.concat([Buffer.from(`${life.workspace}/`), Buffer.from([0xc3, 0x28])]), `${n}`),
    link: (life, n) => {
      const path = join(life.workspace, `link${n % 3}`);
      rmSync(path, { force: true });
      symlinkSync(`to/${n}`, path);
    },
    mode: (life, n) => {
      const path = join(life.workspace, name(n));
      if (existsSync(path)) chmodSync(path, n % 2 === 0 ? 0o755 : 0o644);
    },
    remove: (life, n) => {
      rmSync(join(life.workspace, name(n)), { recursive: true, force: true });
    },
    empty: (life, n) => void mkdirSync(join(life.workspace, `empty${n}`), { recursive: true }),
    stage: (life) => life.git("add", "-A"),
    unstage: (life) => life.git("reset", "-q").catch(() => {}),
    move: (life, n) => life.git("mv", "a.txt", `moved${n}`).catch(() => {}),
    commit: (life) => life.git("commit", "-q", "--allow-empty", "-am", "c").catch(() => {}),
    push: (life) => life.git("push", "-q", "origin", `HEAD:refs/heads/other`).catch(() => {}),
    detach: (life) => life.git("checkout", "-q", "--detach").catch(() => {}),
    orphan: (life, n) => life.git("checkout", "-q", "--orphan", `o${n}`).catch(() => {}),
    ignore: (life, n) => appendFileSync(join(life.workspace, ".gitignore"), `${name(n)}\n`),
    merge: (life) => life.git("merge", "-q", "origin/main").catch(() => {}),
  };

  function writeSafely(life: Life, path: string, text: string | Uint8Array): void {
    try {
      put(life, path, text);
    } catch {
      // a file stands where a folder would have to be
    }
  }

  test("restores any state of the work tree, with its commits", async () => {
    const steps = fc.array(fc.tuple(fc.constantFrom(...Object.keys(STEPS)), fc.nat(20), fc.boolean()), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        using bench = await startSaving({ "a.txt": "1\n", b: "b\n", "dir/c": "c\n" });
        await bench.repository.write([
          { name: "main", branch: "main", files: { "a.txt": "main\n", m: "m\n" } },
        ]);
        const one = await bench.life();
        await one.git("fetch", "-q", "origin", "main:refs/remotes/origin/main");
        for (const [step, n, saves] of history) {
          await STEPS[step]?.(one, n);
          if (saves) await one.save();
        }
        await one.save();
        expect(one.saver.problem).toBeNull();
        const two = await bench.life({ restore: true });
        expect(bench.refusal).toBeNull();
        const head = await one.git("rev-parse", "--verify", "HEAD").catch(() => null);
        const first = (await bench.repository.git("rev-parse", bench.sessionId)).trim();
        const isAhead =
          head !== null && (await one.git("merge-base", first, "HEAD").catch(() => "")).trim() === first;
        if (isAhead && (await bench.saved()) !== null) expect(await two.git("rev-parse", "HEAD")).toBe(head);
        expect((await two.git("diff", "--cached", "--name-only")).trim()).toBe("");
        expect(await contentOf(two)).toBe(await contentOf(one));
      }),
      { numRuns: share(5, 100), endOnFailure: true },
    );
  });

  test("a file that was staged and then ignored is saved by the next sandbox, too", async () => {
    using bench = await startSaving();
    const one = await bench.life();
    put(one, "built/x.bin", "x\n");
    await one.git("add", "built/x.bin");
    put(one, ".gitignore", "built\nother\n");
    put(one, "other", "never staged\n");
    await one.save();
    const two = await bench.life({ restore: true });
    expect((await two.git("diff", "--cached", "--name-only")).trim()).toBe("");
    put(two, "more", "m\n");
    await two.save();
    expect([two.saver.problem, await filesOf(bench)]).toEqual([
      null,
      [".gitignore", "a.txt", "built/x.bin", "more"],
    ]);
  });

  test("onto a branch that has moved, if they do not conflict; otherwise nothing changes", async () => {
    using bench = await startSaving({ "a.txt": "1\n2\n3\n4\n5\n6\n7\n", b: "b\n" });
    const one = await bench.life();
    put(one, "a.txt", "1\n2\n3\n4\n5\n6\nseven\n");
    await one.git("commit", "-qam", "mine");
    put(one, "new", "n\n");
    await one.save();
    const tip = (await bench.repository.git("rev-parse", bench.sessionId)).trim();
    const moved = { b: "bb\n", "a.txt": "one\n2\n3\n4\n5\n6\n7\n" };
    const { theirs } = await bench.repository.write([
      { name: "theirs", branch: bench.sessionId, parents: [tip], files: moved },
    ]);
    const two = await bench.life({ restore: true });
    expect(bench.refusal).toBeNull();
    expect((await two.git("rev-parse", "HEAD")).trim()).toBe(theirs ?? "");
    expect(readFileSync(join(two.workspace, "a.txt"), "utf8")).toBe("one\n2\n3\n4\n5\n6\nseven\n");
    expect((await two.git("status", "--porcelain")).trim().split("\n").toSorted()).toEqual([
      "?? new",
      "M a.txt",
    ]);

    await bench.repository.write([
      {
        name: "clash",
        branch: bench.sessionId,
        parents: [theirs ?? ""],
        files: { "a.txt": "all\nnew\n", new: "N\n" },
      },
    ]);
    const saved = await bench.saved();
    const three = await bench.life({ restore: true });
    expect(bench.refusal).toContain("conflicts with newer commits on the branch");
    expect(await three.git("status", "--porcelain", "--ignored")).toBe("");
    expect(await bench.saved()).toBe(saved);
  });
});
