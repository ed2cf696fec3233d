import { expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { uninstall as spec } from "../../cli/table/install.ts";
import { installSvc } from "../helpers/installed.ts";

const HOSTS = {
  "local-dev": { token: "svc_pat_one", user_email: "a@example.com", account_id: "x" },
  team: { url: "https://svc.example.com/v1", token: "svc_pat_two" },
  open: { url: "https://open.example.com/v1" },
};

/** An installation with an earlier version, stored tokens and what the update check keeps. */
function install(changes: Record<string, unknown> = {}) {
  const svc = installSvc("https://svc.example.com", null, changes);
  writeFileSync(`${svc.program}.prev`, "earlier");
  mkdirSync(dirname(svc.home.config), { recursive: true });
  writeFileSync(svc.home.config, JSON.stringify({ active: "team", hosts: HOSTS }));
  const state = join(svc.home.home, ".local/state/svc/update.json");
  mkdirSync(dirname(state), { recursive: true });
  writeFileSync(state, "{}");
  return {
    ...svc,
    state,
    folder: join(svc.home.home, ".svc"),
    hosts: () => JSON.parse(readFileSync(svc.home.config, "utf8")).hosts,
  };
}

test("removes the program, its link, its record, the empty folders and the tokens, and nothing else", async () => {
  const svc = install();
  const done = await svc.run(["uninstall", "--yes", "--json"]);
  expect(done.code).toBe(0);
  const answer = done.json();
  expect(Object.keys(answer)).toEqual([...spec.fields]);
  expect(answer.removed.toSorted()).toEqual(
    [
      svc.program,
      `${svc.program}.prev`,
      svc.link,
      join(svc.folder, "install.json"),
      svc.state,
      join(svc.folder, "bin"),
      svc.folder,
    ].toSorted(),
  );
  expect([answer.kept, answer.failed, answer.signed_out]).toEqual([[], [], ["local-dev", "team"]]);
  expect([existsSync(svc.folder), existsSync(svc.link), existsSync(svc.state)]).toEqual([
    false,
    false,
    false,
  ]);
  // the hosts stay, without what signing in added
  expect(svc.hosts()).toEqual({
    "local-dev": {},
    team: { url: "https://svc.example.com/v1" },
    open: HOSTS.open,
  });
});

test("--keep-auth and --keep-home", async () => {
  const svc = install();
  expect((await svc.run(["uninstall", "--yes", "--keep-auth", "--keep-home"])).code).toBe(0);
  expect(svc.hosts()).toEqual(HOSTS);
  expect(readdirSync(svc.folder)).toEqual(["bin"]);
  expect(svc.bin()).toEqual([]);
});

test("keeps what the installation did not create", async () => {
  const svc = install();
  mkdirSync(join(svc.folder, "selfhost"));
  writeFileSync(join(svc.folder, "bin/other"), "x");
  rmSync(svc.link);
  symlinkSync("/usr/bin/true", svc.link);
  const done = await svc.run(["uninstall", "--yes", "--json"], { self: [svc.program] });
  expect(done.json().kept.toSorted()).toEqual(
    [svc.link, join(svc.folder, "bin/other"), join(svc.folder, "selfhost")].toSorted(),
  );
  expect([existsSync(svc.link), readdirSync(svc.folder).sort(), svc.bin()]).toEqual([
    true,
    ["bin", "selfhost"],
    ["other"],
  ]);
});

test("removes its own line for the PATH only", async () => {
  const line = 'export PATH=/x/bin:"$PATH"';
  const { home } = installSvc("https://svc.example.com", null).home;
  const file = join(home, "dotfiles/bashrc");
  mkdirSync(dirname(file));
  writeFileSync(file, `alias ll='ls -l'\n${line}\n# ${line}\n`);
  chmodSync(file, 0o640);
  symlinkSync(file, join(home, ".bashrc"));
  const svc = install({ path_line: { file: join(home, ".bashrc"), line } });
  expect((await svc.run(["uninstall", "--yes"])).code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe(`alias ll='ls -l'\n# ${line}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o640);
});

test("without a terminal it needs --yes; a damaged configuration stops it before anything is removed", async () => {
  const svc = install();
  const refused = await svc.run(["uninstall"]);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("--yes")]);
  writeFileSync(svc.home.config, "{");
  expect((await svc.run(["uninstall", "--yes", "--json"])).json().error.code).toBe("config_invalid");
  expect(svc.bin()).toEqual(["svc", "svc.prev"]);
});
