import { expect } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { runGit } from "../helpers/git-repo.ts";
import { needs, succeeds } from "../helpers/needs.ts";
import { sample } from "../helpers/random.ts";
import { startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const MAY_MOUNT = succeeds("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt");
const test = needs("root and unshare(1), to mount a small disk", MAY_MOUNT);

const SAVE_INTERVAL_MS = 30;
const DISK_MB = 24;
const WORK_BYTES = 4 * 1024 * 1024;
/** Workspace and home on a disk of their own, which is the daemon's alone and goes with it. */
const ON_A_DISK = `
disk=$(dirname "$SVC_WORKSPACE")/disk
mkdir "$disk" && mount -t tmpfs -o size=${DISK_MB}m none "$disk" && mkdir "$disk/home" || exit
export SVC_WORKSPACE="$disk/workspace" SVC_RUNTIME_HOME="$disk/home"
exec "$@"`;

/** Where a save fails: before it writes anything, or halfway. */
const FREE = [
  ["at all", 0],
  ["for half of it", WORK_BYTES / 2],
] as const;

test.each(sample(1, FREE))(
  "reports unsaved work while the disk %s is full, and saves it when there is space",
  async (_, free) => {
    await using sandbox = await startSandbox({
      before: ["unshare", "--mount", "sh", "-c", ON_A_DISK, "sh"],
      command: [process.execPath, resolve("test/helpers/saving-agent.ts")],
      env: { TEST_SAVE_INTERVAL_MS: String(SAVE_INTERVAL_MS) },
    });
    const { repository, sessionId, untilHealth } = sandbox;
    const git = async (...args: string[]) =>
      (await runGit(repository.directory, args, { codes: [0, 128] })).stdout.toString().trim();
    const ref = `refs/svc/saved/${sessionId}`;
    const disk = join("/proc", String(sandbox.child.pid), "root", sandbox.folder, "disk");
    const workspace = join(disk, "workspace");
    await untilHealth("the runtime is ready", ({ clone, runtime }) => clone === "ok" && runtime === "ok");
    writeFileSync(join(workspace, "a.txt"), "2\n");
    await until("it is saved", async () => (await git("show", `${ref}:a.txt`)) === "2");
    const before = await git("for-each-ref");
    const look = () => {
      const names = readdirSync(join(workspace, ".git"), { recursive: true });
      return [names.map(String).toSorted(), readFileSync(join(workspace, ".git/index"), "base64")];
    };
    const own = look();

    const work = randomBytes(WORK_BYTES);
    writeFileSync(join(disk, "work"), work);
    fill(disk, free);
    // which needs no place
    renameSync(join(disk, "work"), join(workspace, "work"));
    const { save_problem } = await untilHealth("it says so", (health) => health.save_problem !== undefined);
    expect(save_problem).toStartWith("Unpushed work could not be saved: ");
    expect(save_problem).toEndWith(": the sandbox's disk is full.");
    // its incomplete files are removed
    await until("the place is free again", () => !existsSync(join(disk, "home/.svc-saved")));
    // looks that must not say it again
    await Bun.sleep(SAVE_INTERVAL_MS * 5);
    expect(sandbox.log().split("the sandbox's disk is full").length).toBe(2);
    // it was not sent without that file either
    expect(await git("for-each-ref")).toBe(before);
    expect(await git("fsck", "--strict", "--connectivity-only")).not.toContain("missing");
    expect(look()).toEqual(own);

    rmSync(join(disk, "fill"));
    await untilHealth("it is well again", (health) => health.save_problem === undefined);
    const saved = await runGit(repository.directory, ["cat-file", "blob", `${ref}:work`]);
    expect(saved.stdout.equals(work)).toBe(true);
    expect(await git("rev-parse", sessionId)).toBe(await git("rev-parse", `${ref}^`));
    expect(existsSync(join(workspace, "work"))).toBe(true);
    expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("2\n");
  },
);

/** Fills a disk up, but for so many bytes. */
function fill(disk: string, free: number): void {
  const file = join(disk, "fill");
  const reserve = join(disk, "reserve");
  writeFileSync(reserve, Buffer.alloc(free));
  for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: "a" });
    } catch {
      // less may fit
    }
  }
  rmSync(reserve);
}
