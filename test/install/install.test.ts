import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "bun:test";
import { spawn } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { spawnOnTerminal } from "../helpers/cli-run.ts";
import { type Installer, makeInstaller, type Shell } from "../helpers/installer.ts";
import { needs, succeeds } from "../helpers/needs.ts";
import { generator, pick, SEED, sample, share } from "../helpers/random.ts";
import {
  archiveOf,
  fakeSvc,
  makeRelease,
  makeReleaseKey,
  PLATFORM,
  serveReleases,
  signRelease,
} from "../helpers/release.ts";

const shells: [Shell, string, boolean][] = [
  [
    "dash",
    "dash, curl and openssl",
    Bun.which("dash") !== null && Bun.which("curl") !== null && Bun.which("openssl") !== null,
  ],
  ["busybox", "busybox and openssl", Bun.which("busybox") !== null && Bun.which("openssl") !== null],
];
const usable = shells.filter(([, , present]) => present);
const key = makeReleaseKey();
let here: Installer;
let shared: Installer;
let server: ReturnType<typeof serveReleases>;
let script: string;

beforeAll(() => {
  shared = makeInstaller("svc-release-");
  makeRelease(shared.home, { version: "1.0.0", key });
  makeRelease(shared.home, { version: "1.2.3", key });
  server = serveReleases(shared.home);
});
afterAll(async () => {
  await server.stop();
  shared.remove();
});
beforeEach(() => {
  here = makeInstaller();
  script = here.script(server.url, key.line);
});
afterEach(() => {
  for (const end of Object.keys(server.faults)) delete server.faults[end];
  here.remove();
});

const bin = (...more: string[]) => join(here.home, ".svc/bin", ...more);
const printed = (path: string) => Bun.spawnSync([path, "version"]).stdout.toString().trim();
const release = (version: string) => join(shared.home, version);

/** Nothing was installed, and nothing is left of the attempt. */
function expectNothing() {
  const left = existsSync(bin()) ? readdirSync(bin()) : [];
  expect({
    left,
    system: readdirSync(here.system),
    record: existsSync(join(here.home, ".svc/install.json")),
  }).toEqual({
    left: [],
    system: [],
    record: false,
  });
}

describe.each(shells)("under %s", (shell, name, present) => {
  const it = needs(name, present);
  /** The shells draw other rows. */
  const random = generator(SEED + shell.length);
  const some = <Row>(usual: number, rows: readonly Row[]) => pick(share(usual, rows.length), rows, random);
  const coin = generator(SEED);
  /** Whether this is the shell that the seed draws for a test; in full it is each. */
  const isDrawn = () => {
    const drawn = pick(share(1, usable.length), usable, coin);
    return !present || drawn.some(([each]) => each === shell);
  };
  /** A test under one of the shells. */
  const once = (title: string, body: () => Promise<void>) => {
    if (isDrawn()) it(title, body);
  };

  once("installs, links, records and names the next command; again, it changes nothing", async () => {
    const first = await here.run(script, { shell });
    expect([first.code, first.err]).toEqual([0, ""]);
    expect(first.out).toContain(`Installed svc 1.2.3: ${bin("svc")}\n`);
    expect(first.out).toContain(`login --api ${server.url}/v1\n`);
    expect(readlinkSync(join(here.system, "svc"))).toBe(bin("svc"));
    expect(printed(join(here.system, "svc"))).toBe("1.2.3");
    const record = {
      version: "1.2.3",
      platform: PLATFORM,
      distribution: "script",
      files: [bin("svc"), bin("svc.prev")],
      links: [join(here.system, "svc")],
      source: server.url,
      public_key: key.line,
      path_line: null,
    };
    expect(here.record()).toEqual(record);
    const second = await here.run(script, { shell });
    expect([second.code, second.out]).toEqual([0, first.out]);
    expect(here.record()).toEqual(record);
    expect(readdirSync(bin())).toEqual(["svc"]);
  });

  once("keeps the earlier version as svc.prev", async () => {
    await here.run(script, { shell, args: ["--version", "1.0.0"] });
    expect(printed(bin("svc"))).toBe("1.0.0");
    expect((await here.run(script, { shell })).code).toBe(0);
    expect([printed(bin("svc")), printed(bin("svc.prev"))]).toEqual(["1.2.3", "1.0.0"]);
    expect(readdirSync(bin()).sort()).toEqual(["svc", "svc.prev"]);
  });

  once("options: a folder without a link, and what --dry-run prints", async () => {
    const dry = await here.run(script, { shell, args: ["--dry-run", "--version=1.0.0"] });
    expect([dry.code, dry.err]).toEqual([0, ""]);
    expect(dry.out).toContain(`/releases/1.0.0/${archiveOf("1.0.0")}\n`);
    expectNothing();
    expect(existsSync(join(here.home, ".svc"))).toBe(false);
    const own = await here.run(script, {
      shell,
      env: { SVC_INSTALL_DIR: "own", SVC_INSTALL_VERSION: "1.0.0" },
    });
    expect([own.code, readdirSync(here.system)]).toEqual([0, []]);
    expect(printed(join(here.root, "own/svc"))).toBe("1.0.0");
    expect(own.out).toContain(`echo 'export PATH=${join(here.root, "own")}:"$PATH"' >> ${here.home}/.bashrc`);
    for (const args of [["--bogus"], ["--dir"], ["--dir="], ["--version", "../1"], ["extra"]]) {
      const refused = await here.run(script, { shell, args });
      expect([args, refused.code, refused.out]).toEqual([args, 2, ""]);
    }
    expect((await here.run(script, { shell, args: ["--help"] })).out).toContain("--no-modify-path");
  });

  once("a home with blanks, quotes and signs of the shell", async () => {
    const home = join(here.root, `it's "a" $HOME \\ \`home\``);
    mkdirSync(home);
    const { code, out } = await here.run(script, { shell, env: { HOME: home } });
    expect(code).toBe(0);
    const record = JSON.parse(readFileSync(join(home, ".svc/install.json"), "utf8"));
    expect(record.files[0]).toBe(join(home, ".svc/bin/svc"));
    expect(printed(record.files[0])).toBe("1.2.3");
    // the printed line is one that a shell can run
    const line = /^ {2}(echo .*)$/m.exec(out)?.[1] ?? "";
    expect(Bun.spawnSync(["sh", "-c", line]).exitCode).toBe(0);
    const { stdout } = Bun.spawnSync(["sh", "-c", `. "$0"; printf %s "$PATH"`, join(home, ".bashrc")], {
      env: { PATH: "/bin" },
    });
    expect(stdout.toString()).toBe(`${here.system}:/bin`);
  });

  /** By what is wrong: the archive, the signature, the version, an answer. Each run has one of each kind. */
  const wrong: [string, string, () => void][][] = [
    [
      [
        "a changed archive",
        "The checksum of",
        () => (server.faults[archiveOf("1.2.3")] = () => new Response("changed")),
      ],
      [
        "a cut archive",
        "The checksum of",
        () =>
          (server.faults[archiveOf("1.2.3")] = () =>
            new Response(readFileSync(join(release("1.2.3"), archiveOf("1.2.3"))).subarray(0, -9))),
      ],
    ],
    [
      [
        "another key",
        "The signature of",
        () => (server.faults["SHA256SUMS.sig"] = () => new Response(signatureOf(makeReleaseKey()))),
      ],
      [
        "changed sums",
        "The signature of",
        () =>
          (server.faults["SHA256SUMS"] = () =>
            new Response(
              readFileSync(join(release("1.2.3"), "SHA256SUMS"), "utf8")
                .replace("svc-", "SVC-")
                .replace("SVC-", "svc-")
                .concat("\n"),
            )),
      ],
    ],
    [
      [
        "no signature",
        "SHA256SUMS.sig",
        () => (server.faults["SHA256SUMS.sig"] = () => new Response("", { status: 404 })),
      ],
      [
        "an empty signature",
        "The signature of",
        () => (server.faults["SHA256SUMS.sig"] = () => new Response("")),
      ],
    ],
    [["the signed sums of another version", "has no build for", () => replay()]],
    [
      [
        "a version that is none",
        "is not a version",
        () => (server.faults["/latest"] = () => new Response("$(touch x)")),
      ],
      [
        "a version that is a path",
        "is not a version",
        () => (server.faults["/latest"] = () => new Response("../../etc")),
      ],
    ],
    [
      [
        "an error for the sums",
        "SHA256SUMS",
        () => (server.faults["/SHA256SUMS"] = () => new Response("no", { status: 500 })),
      ],
      [
        "an error for the archive",
        "Cannot download",
        () => (server.faults[archiveOf("1.2.3")] = () => new Response("no", { status: 404 })),
      ],
      [
        "an error for the version",
        "/releases/latest",
        () => (server.faults["/latest"] = () => new Response("no", { status: 404 })),
      ],
    ],
  ];
  for (const kind of wrong)
    if (isDrawn())
      it.each(some(1, kind))("refuses %s", async (_, message, spoil) => {
        spoil();
        const { code, err } = await here.run(script, { shell });
        expect([code, err]).toEqual([1, expect.stringContaining(message)]);
        expectNothing();
      });

  const unlisted: [string, (name: string, sum: string) => string][] = [
    ["not listed", (name, sum) => `${sum}  x${name}\n`],
    ["listed twice", (name, sum) => `${sum}  ${name}\n${sum}  ${name}\n`],
    ["listed with a path", (name, sum) => `${sum}  ../../${name}\n${sum}  /${name}\n${sum}  ./${name}\n`],
    ["listed without a sum", (name) => `  ${name}\n`],
    ["listed with a short sum", (name, sum) => `${sum.slice(1)}  ${name}\n`],
  ];
  it.each(some(1, unlisted))("refuses a signed list of sums in which the archive is %s", async (_, sums) => {
    const folder = join(here.root, "releases");
    const made = makeRelease(folder, { version: "1.2.3", key });
    const [sum = ""] = readFileSync(join(made, "SHA256SUMS"), "utf8").split(" ");
    signRelease(made, key, sums(archiveOf("1.2.3"), sum));
    const other = serveReleases(folder);
    const { code, err } = await here.run(here.script(other.url, key.line), { shell });
    await other.stop();
    expect([code, err]).toEqual([1, expect.stringContaining("has no build for")]);
    expectNothing();
  });

  once("ends a download that is larger than a release can be", async () => {
    const small = script.replace(/^ARCHIVE_MAX_BYTES=.*$/m, "ARCHIVE_MAX_BYTES=100000");
    let sent = 0;
    const endless = () =>
      new ReadableStream({
        pull(controller) {
          sent += 65_536;
          controller.enqueue(new Uint8Array(65_536));
          if (sent > 100_000_000) controller.close();
        },
      });
    server.faults[archiveOf("1.2.3")] = () => new Response(endless());
    const { code, err } = await here.run(small, { shell });
    expect([code, err]).toEqual([1, expect.stringContaining("Cannot download")]);
    expect(sent).toBeLessThan(100_000_000);
    expectNothing();
  });

  const unfit: [string, string, string][] = [
    ["does not start", "#!/bin/sh\nexit 1\n", "svc does not start here"],
    ["is of another version", fakeSvc("1.2.34"), "is not svc 1.2.3"],
  ];
  it.each(some(1, unfit))(
    "a program that %s does not replace the installed one",
    async (_, program, message) => {
      await here.run(script, { shell, args: ["--version", "1.0.0"] });
      const folder = join(here.root, "releases");
      makeRelease(folder, { version: "1.2.3", key, program });
      const other = serveReleases(folder);
      const { code, err } = await here.run(here.script(other.url, key.line), { shell });
      await other.stop();
      expect([code, err]).toEqual([1, expect.stringContaining(message)]);
      expect([readdirSync(bin()), printed(bin("svc")), here.record().version]).toEqual([
        ["svc"],
        "1.0.0",
        "1.0.0",
      ]);
    },
  );

  once("without a program that verifies, installs only after --unchecked", async () => {
    const without = ["openssl", "node"];
    const refused = await here.run(script, { shell, without });
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining(
        "The signature was not checked: no program here can verify Ed25519 (openssl is not installed)",
      ),
    ]);
    expect(refused.err).toContain("--unchecked");
    expectNothing();
    const allowed = await here.run(script, { shell, without, env: { SVC_INSTALL_UNCHECKED: "1" } });
    expect([allowed.code, allowed.err]).toEqual([
      0,
      expect.stringContaining("The signature was not checked, only the checksum"),
    ]);
    // the checksum still is
    server.faults[archiveOf("1.2.3")] = () => new Response("changed");
    expect((await here.run(script, { shell, without, args: ["--unchecked"] })).code).toBe(1);
  });

  for (const [what, body] of [
    ["refuses everything", "exit 1"],
    ["accepts everything", "exit 0"],
  ] as const)
    once(`an openssl that ${what} verifies nothing`, async () => {
      here.fake("openssl", `[ "$1" != version ] || { echo "Other 1.0"; exit; }\n${body}`);
      const { code, err } = await here.run(script, { shell, without: ["node"] });
      expect([code, err]).toEqual([
        1,
        expect.stringContaining("no program here can verify Ed25519 (Other 1.0)"),
      ]);
      expectNothing();
    });

  once("--unchecked does not skip a check that is possible", async () => {
    server.faults["SHA256SUMS.sig"] = () => new Response(signatureOf(makeReleaseKey()));
    expect((await here.run(script, { shell, args: ["--unchecked"] })).code).toBe(1);
    expectNothing();
  });

  once("a script that no server has filled in needs the server and its key", async () => {
    const bare = here.script("", "");
    expect((await here.run(bare, { shell })).err).toContain("names no server");
    const env = { SVC_INSTALL_URL: `${server.url}/` };
    expect((await here.run(bare, { shell, env })).err).toContain("no public key is known");
    expect((await here.run(bare, { shell, env: { ...env, SVC_INSTALL_KEY: key.line } })).code).toBe(0);
    expect(here.record()["source"]).toBe(server.url);
  });

  once("loopback never goes through a proxy", async () => {
    const proxy = "http://127.0.0.1:9";
    const env = Object.fromEntries(
      ["http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"].map((name) => [name, proxy]),
    );
    expect((await here.run(script, { shell, env })).code).toBe(0);
  });

  once("leaves the svc of another installation alone, and links elsewhere", async () => {
    writeFileSync(join(here.system, "svc"), "another");
    const first = await here.run(script, { shell, env: { PATH: `${here.system}:${process.env["PATH"]}` } });
    expect([first.code, first.err]).toEqual([
      0,
      expect.stringContaining(`${here.system}/svc belongs to another installation`),
    ]);
    expect(readFileSync(join(here.system, "svc"), "utf8")).toBe("another");
    const local = join(here.home, ".local/bin/svc");
    expect([readlinkSync(local), here.record().links]).toEqual([bin("svc"), [local]]);
    // later installations keep the link where it is
    rmSync(join(here.system, "svc"));
    await here.run(script, { shell });
    expect([here.record().links, readdirSync(here.system)]).toEqual([[local], []]);
  });

  once("replaces a link to nothing; without any free name there is no link", async () => {
    symlinkSync("/nothing", join(here.system, "svc"));
    expect((await here.run(script, { shell })).code).toBe(0);
    expect(readlinkSync(join(here.system, "svc"))).toBe(bin("svc"));
    rmSync(join(here.system, "svc"));
    for (const folder of [here.system, join(here.home, ".local/bin")])
      mkdirSync(join(folder, "svc"), { recursive: true });
    const { code, out } = await here.run(script, { shell });
    expect([code, here.record().links]).toEqual([0, []]);
    expect(out).toContain(`${bin()} is not on your PATH`);
  });
});

function signatureOf(other: ReturnType<typeof makeReleaseKey>): string {
  const folder = join(here.root, "signed");
  mkdirSync(folder, { recursive: true });
  signRelease(folder, other, readFileSync(join(release("1.2.3"), "SHA256SUMS"), "utf8"));
  return readFileSync(join(folder, "SHA256SUMS.sig"), "utf8");
}

/** Offers an older, correctly signed release as a newer one. */
function replay() {
  for (const name of ["SHA256SUMS.sig", "SHA256SUMS"])
    server.faults[`1.2.3/${name}`] = () => new Response(readFileSync(join(release("1.0.0"), name)));
}

const dash = needs(shells[0]?.[1] ?? "", shells[0]?.[2] ?? false);

const machines: [string, string, string, string | null][] = [
  ["Linux", "x86_64", "ldd (Debian GLIBC 2.36-9) 2.36", "linux-x64"],
  ["Linux", "amd64", "ldd (GNU libc) 2.39", "linux-x64"],
  ["Linux", "aarch64", "ldd (GNU libc) 2.39", "linux-arm64"],
  ["Linux", "x86_64", "musl libc (x86_64)\nVersion 1.2.5", "linux-x64-musl"],
  ["Linux", "arm64", "musl libc (aarch64)", "linux-arm64-musl"],
  ["Darwin", "arm64", "", "macos-arm64"],
  ["Darwin", "x86_64", "", "macos-x64"],
  ["Linux", "riscv64", "", null],
  ["Linux", "i686", "", null],
  ["FreeBSD", "amd64", "", null],
  ["MINGW64_NT-10.0", "x86_64", "", null],
];
dash.each(sample(3, machines))("%s %s with %j is %s", async (system, machine, ldd, platform) => {
  here.fake("uname", `case $1 in -s) echo ${system} ;; -m) echo ${machine} ;; esac`);
  here.fake("ldd", `echo "${ldd}" >&2; exit 1`);
  here.fake("sysctl", "exit 1");
  const { code, out, err } = await here.run(script, { args: ["--dry-run"] });
  if (platform === null)
    return expect([code, err]).toEqual([
      1,
      expect.stringMatching(/no build for this machine|not install on Windows/),
    ]);
  expect([code, out]).toEqual([0, expect.stringContaining(`svc 1.2.3 for ${platform} would be installed`)]);
});

dash("Rosetta is arm64, and a 32-bit system on a 64-bit kernel is not supported", async () => {
  here.fake("uname", "case $1 in -s) echo Darwin ;; -m) echo x86_64 ;; esac");
  here.fake("sysctl", "echo 1");
  expect((await here.run(script, { args: ["--dry-run"] })).out).toContain("for macos-arm64");
  here.fake("uname", "case $1 in -s) echo Linux ;; -m) echo aarch64 ;; esac");
  here.fake("getconf", "echo 32");
  expect((await here.run(script, { args: ["--dry-run"] })).code).toBe(1);
});

needs("Node", Bun.which("node") !== null)("Node verifies where openssl cannot", async () => {
  const without = ["openssl"];
  const { code, out } = await here.run(script, { without });
  expect([code, out]).toEqual([0, expect.stringContaining("Verified the signature with node")]);
  server.faults["SHA256SUMS.sig"] = () => new Response(signatureOf(makeReleaseKey()));
  expect((await here.run(script, { without })).err).toContain("The signature of the release 1.2.3 is wrong");
});

dash("of a script that was cut off, nothing runs", async () => {
  const random = generator(SEED);
  const ends = [script.length - 2, script.length - 4, script.indexOf('main "$@"') + 4];
  for (let count = share(5, 400); count > 0; count--) ends.push(random(script.length - 2));
  const before = server.requests.length;
  for (const end of ends) await here.run(script.slice(0, end));
  expect([readdirSync(here.home), readdirSync(here.system), server.requests.length]).toEqual([
    [],
    [],
    before,
  ]);
});

const nobody: [string, ...string[]] = [
  Bun.which("setpriv") ?? "setpriv",
  "--reuid=54321",
  "--regid=54321",
  "--clear-groups",
  "--",
];
const canChange = process.getuid?.() !== 0 || succeeds(...nobody, "true");
needs("another user (setpriv)", canChange)(
  "a user who may not write to /usr/local/bin gets the link in ~/.local/bin",
  async () => {
    const before = process.getuid?.() === 0 ? nobody : [];
    Bun.spawnSync(["chmod", "755", here.root]);
    if (before.length > 0) Bun.spawnSync(["chown", "54321:54321", here.home]);
    else Bun.spawnSync(["chmod", "555", here.system]);
    const { code, err } = await here.run(script, { before });
    expect([code, err]).toEqual([0, ""]);
    expect(here.record().links).toEqual([join(here.home, ".local/bin/svc")]);
    if (before.length === 0) Bun.spawnSync(["chmod", "755", here.system]);
    // and one who may not write to the home itself
    Bun.spawnSync(["chmod", "555", bin()]);
    if (before.length > 0) Bun.spawnSync(["chown", "0:0", bin()]);
    const refused = await here.run(script, { before });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(`Cannot write to ${bin()}`)]);
    expect(lstatSync(bin("svc")).isFile()).toBe(true);
    Bun.spawnSync(["chmod", "755", bin()]);
  },
);

const [APT, PYTHON] = ["/usr/lib/apt/apt-helper", "/usr/bin/python3"];
needs("apt", existsSync(APT))("without xz, apt unpacks", async () => {
  expect((await here.run(script, { without: ["xz"] })).code).toBe(0);
  expect(printed(bin("svc"))).toBe("1.2.3");
});
needs("Python", existsSync(PYTHON))("without xz and apt, Python unpacks", async () => {
  here.fake("python3", `exec ${PYTHON} "$@"`);
  const changed = script.replace(/^APT_HELPER=.*$/m, "APT_HELPER=/nothing");
  expect((await here.run(changed, { without: ["xz"] })).code).toBe(0);
  expect(printed(bin("svc"))).toBe("1.2.3");
});

dash("without any program that unpacks, xz is named", async () => {
  const bare = script.replace(/^APT_HELPER=.*$/m, "APT_HELPER=/nothing");
  const { code, err } = await here.run(bare, { without: ["xz"] });
  expect([code, err]).toEqual([1, expect.stringContaining("apt-get install xz-utils")]);
  expectNothing();
});

const DASH = Bun.which("dash") ?? "sh";

/** Runs the script on a terminal of its own, with the answer to its question. */
async function onTerminal(args: string[], answer: string) {
  writeFileSync(join(here.root, "install.sh"), script);
  let drawn = "";
  const home = { home: here.home, cwd: here.root, config: "" };
  const { child, exited } = spawnOnTerminal(
    [DASH, join(here.root, "install.sh"), ...args],
    { home, env: { SHELL: "/bin/bash" } },
    [200, 40],
    (bytes) => {
      drawn += Buffer.from(bytes).toString();
      if (drawn.includes("[y/N]") && !drawn.includes("Installed")) child.terminal?.write(`${answer}\n`);
    },
  );
  return { ...(await exited), drawn };
}

dash("on a terminal, offers to add the folder to the PATH, and records its line", async () => {
  const file = join(here.home, ".bashrc");
  const line = `export PATH=${here.system}:"$PATH"`;
  for (const [args, answer] of [
    [["--no-modify-path"], "y"],
    [[], "n"],
    [[], ""],
  ] as const) {
    const { code, drawn } = await onTerminal([...args], answer);
    expect([code, drawn.includes("[y/N]")]).toEqual([0, args.length === 0]);
    expect([existsSync(file), here.record().path_line]).toEqual([false, null]);
  }
  expect((await onTerminal([], "y")).code).toBe(0);
  expect([readFileSync(file, "utf8"), here.record().path_line]).toEqual([`${line}\n`, { file, line }]);
  // once; a later installation keeps the record
  expect((await onTerminal([], "y")).drawn).not.toContain("[y/N]");
  expect([readFileSync(file, "utf8"), here.record().path_line]).toEqual([`${line}\n`, { file, line }]);
});

dash.each(sample(1, ["SIGINT", "SIGTERM", "SIGHUP"] as const))(
  "%s during a download leaves nothing",
  async (signal) => {
    const asked = Promise.withResolvers<void>();
    server.faults[archiveOf("1.2.3")] = () => {
      asked.resolve();
      return new Response(new ReadableStream({ pull: () => new Promise(() => {}) }));
    };
    writeFileSync(join(here.root, "install.sh"), script);
    const env = { HOME: here.home, PATH: process.env["PATH"], CI: "1" };
    const child = spawn(DASH, [join(here.root, "install.sh")], { env, detached: true, stdio: "ignore" });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    await asked.promise;
    process.kill(-(child.pid ?? 0), signal);
    expect(await ended).not.toBe(0);
    expectNothing();
  },
);
