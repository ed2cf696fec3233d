import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UPDATE_STEPS } from "../../cli/install/replace-program.ts";
import { VERSION } from "../../src/contract/version.ts";
import { installSvc } from "../helpers/installed.ts";
import {
  archiveOf,
  fakeSvc,
  makeRelease,
  makeReleaseKey,
  serveReleases,
  signRelease,
} from "../helpers/release.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-update-"));
const key = makeReleaseKey();
const NEW = "99.0.0";
const OLD = "0.0.1";
let server: ReturnType<typeof serveReleases>;

beforeAll(() => {
  makeRelease(folder, { version: OLD, key });
  makeRelease(folder, { version: NEW, key });
  makeRelease(folder, {
    version: "99.0.1",
    key,
    program: "#!/bin/sh\necho broken >&2\nexit 3\n",
    latest: false,
  });
  makeRelease(folder, { version: "99.0.2", key, program: fakeSvc("99.0.3"), latest: false });
  makeRelease(folder, { version: "99.0.4", key, program: "not a program", latest: false });
  // starts under another name, and not as svc
  const fickle = `#!/bin/sh\ncase $0 in */svc) exit 1 ;; esac\necho '{"version": "99.0.5"}'\n`;
  makeRelease(folder, { version: "99.0.5", key, program: fickle, latest: false });
  server = serveReleases(folder);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  for (const end of Object.keys(server.faults)) delete server.faults[end];
});

const install = () => installSvc(server.url, key);

test("installs the newest version, keeps the earlier one, and returns to it", async () => {
  const svc = install();
  const updated = await svc.run(["update", "--json"]);
  expect([updated.code, updated.json()]).toEqual([
    0,
    { action: "updated", version: NEW, previous_version: VERSION, path: svc.program, source: server.url },
  ]);
  expect([svc.bin(), svc.version(), svc.version(`${svc.program}.prev`)]).toEqual([
    ["svc", "svc.prev"],
    NEW,
    VERSION,
  ]);
  expect([svc.version(svc.link), svc.record().version]).toEqual([NEW, NEW]);
  for (const [version, other] of [
    [VERSION, NEW],
    [NEW, VERSION],
  ] as const) {
    const back = await svc.run(["update", "--rollback", "--json"]);
    expect([back.code, back.json().action, back.json().version]).toEqual([0, "rolled_back", version]);
    expect([svc.bin(), svc.version(), svc.version(`${svc.program}.prev`)]).toEqual([
      ["svc", "svc.prev"],
      version,
      other,
    ]);
    expect(svc.record().version).toBe(version);
  }
});

test("--check changes nothing; an older version is installed only by name", async () => {
  const svc = install();
  expect((await svc.run(["update", "--check"])).out).toBe(
    `svc ${NEW} is available (this is ${VERSION}). Run: svc update\n`,
  );
  for (const [latest, action] of [
    [VERSION, "current"],
    [OLD, "ahead"],
  ]) {
    server.faults["/latest"] = () => new Response(`${latest}\n`);
    for (const flags of [["--check"], []])
      expect((await svc.run(["update", "--json=action", ...flags])).json()).toEqual({ action });
  }
  expect([svc.bin(), svc.version()]).toEqual([["svc"], VERSION]);
  expect((await svc.run(["update", "--version", OLD])).code).toBe(0);
  expect(svc.version()).toBe(OLD);
});

/** Sends to a server that closes the connection in the middle of the file. */
const cut = (name: string) => () => {
  const bytes = readFileSync(join(folder, NEW, name));
  const closing = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: {
      data(socket) {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes.length}\r\n\r\n`);
        socket.write(bytes.subarray(0, bytes.length / 2));
        socket.end();
        closing.stop();
      },
    },
  });
  return Response.redirect(`http://127.0.0.1:${closing.port}/`);
};
const changed = (name: string) => () => {
  const bytes = readFileSync(join(folder, NEW, name));
  const at = Math.trunc(bytes.length / 2);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return new Response(bytes);
};
const signedBy = (other: typeof key, sums = readFileSync(join(folder, NEW, "SHA256SUMS"), "utf8")) => {
  const scratch = mkdtempSync(join(tmpdir(), "svc-signed-"));
  signRelease(scratch, other, sums);
  const [list, signature] = ["SHA256SUMS", "SHA256SUMS.sig"].map((name) => readFileSync(join(scratch, name)));
  rmSync(scratch, { recursive: true });
  server.faults["/SHA256SUMS.sig"] = () => new Response(signature);
  server.faults["/SHA256SUMS"] = () => new Response(list);
};
const large = () => new Response(new Uint8Array(46_000_000));

const faults: [what: string, spoil: () => void, code: string, message: RegExp][] = [
  [
    "a changed archive",
    () => (server.faults[archiveOf(NEW)] = changed(archiveOf(NEW))),
    "update_failed",
    /checksum of svc-99/,
  ],
  [
    "an archive that was cut off",
    () => (server.faults[archiveOf(NEW)] = cut(archiveOf(NEW))),
    "network",
    /Cannot download/,
  ],
  [
    "an archive that is too large",
    () => (server.faults[archiveOf(NEW)] = large),
    "update_failed",
    /larger than/,
  ],
  [
    "an archive that is missing",
    () => (server.faults[archiveOf(NEW)] = () => new Response("", { status: 404 })),
    "update_failed",
    /status 404/,
  ],
  [
    "changed sums",
    () => (server.faults["/SHA256SUMS"] = changed("SHA256SUMS")),
    "update_failed",
    /signature of the release/,
  ],
  ["sums that are too large", () => (server.faults["/SHA256SUMS"] = large), "update_failed", /larger than/],
  [
    "a changed signature",
    () => (server.faults["/SHA256SUMS.sig"] = changed("SHA256SUMS.sig")),
    "update_failed",
    /signature/,
  ],
  [
    "a signature that is none",
    () => (server.faults["/SHA256SUMS.sig"] = () => new Response("<html>")),
    "update_failed",
    /not a signature/,
  ],
  [
    "a missing signature",
    () => (server.faults["/SHA256SUMS.sig"] = () => new Response("", { status: 404 })),
    "update_failed",
    /status 404/,
  ],
  ["another key", () => signedBy(makeReleaseKey()), "update_failed", /not by the trusted key/],
  [
    "the signed sums of an older release",
    () => signedBy(key, readFileSync(join(folder, OLD, "SHA256SUMS"), "utf8")),
    "update_failed",
    /does not contain svc-99/,
  ],
  [
    "a path in the signed sums",
    () => signedBy(key, `${"a".repeat(64)}  ../../${archiveOf(NEW)}\n`),
    "update_failed",
    /is not a checksum and a file's name/,
  ],
  [
    "an error for the version",
    () => (server.faults["/latest"] = () => new Response("", { status: 500 })),
    "update_failed",
    /status 500/,
  ],
  [
    "a version that is a path",
    () => (server.faults["/latest"] = () => new Response("../../x\n")),
    "update_failed",
    /not a version/,
  ],
  [
    "a page instead of the version",
    () => (server.faults["/latest"] = () => new Response("<html>".repeat(100))),
    "update_failed",
    /larger than/,
  ],
];
test.each(faults)("%s: the installed program stays", async (_, spoil, code, message) => {
  const svc = install();
  spoil();
  const failed = await svc.run(["update", "--json"]);
  expect([failed.code, failed.json().error.code, failed.json().error.message]).toEqual([
    1,
    code,
    expect.stringMatching(message),
  ]);
  expect([svc.bin(), svc.version(), svc.record().version]).toEqual([["svc"], VERSION, VERSION]);
});

test.each([
  ["99.0.1", /does not start: broken/, ["svc"]],
  ["99.0.2", /release 99.0.2 contains svc 99.0.3/, ["svc"]],
  ["99.0.4", /does not start/, ["svc"]],
  ["99.0.5", /does not start/, ["svc", "svc.prev"]],
])("a release %s that does not run is rolled back", async (version, message, files) => {
  const svc = install();
  const failed = await svc.run(["update", "--json", "--version", version]);
  expect([failed.code, failed.json().error.code]).toEqual([1, "update_failed"]);
  expect(failed.json().error.message).toMatch(message);
  expect([svc.bin(), svc.version(), svc.record().version]).toEqual([files, VERSION, VERSION]);
});

test.each([
  ["a version", ["--version", "98.0.0"], "/releases/98.0.0/SHA256SUMS", "svc update --check"],
  ["a release", [], "/releases/latest", "offers no release"],
])("%s that the server does not have: the error says what to do", async (_, flags, path, hint) => {
  server.faults["/latest"] = () => new Response("", { status: 404 });
  const failed = await install().run(["update", "--json", ...flags]);
  expect([failed.code, failed.json().error]).toEqual([
    1,
    {
      code: "update_failed",
      message: `${server.url}${path} answered with status 404.`,
      hint: expect.stringContaining(hint),
    },
  ]);
});

test("a server that cannot be reached is named", async () => {
  const svc = installSvc("http://127.0.0.1:9", key);
  const { code, err } = await svc.run(["update"]);
  expect([code, err]).toEqual([
    1,
    expect.stringContaining("Cannot download http://127.0.0.1:9/releases/latest"),
  ]);
});

test("without a key there is no update", async () => {
  const svc = installSvc(server.url, null);
  const failed = await svc.run(["update", "--json"]);
  expect([failed.code, failed.json().error.message]).toEqual([1, expect.stringContaining("no release key")]);
  expect(svc.version()).toBe(VERSION);
});

test.each([...UPDATE_STEPS])(
  "killed after the step %s, the old or the new program runs, and the next update completes",
  async (step) => {
    const svc = install();
    const fresh = join(svc.home.home, "fresh");
    writeFileSync(fresh, fakeSvc(NEW));
    const dying = Bun.spawn(
      [process.execPath, join(import.meta.dir, "../helpers/dying-update.ts"), svc.program, fresh, NEW, step],
      {
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
    await dying.exited;
    expect(dying.signalCode).toBe("SIGKILL");
    const isNew = UPDATE_STEPS.indexOf(step) >= UPDATE_STEPS.indexOf("replaced");
    expect(svc.version()).toBe(isNew ? NEW : VERSION);
    const left = svc.bin().filter((name) => name.startsWith(".svc.new-"));
    for (const name of left) utimesSync(join(svc.program, "..", name), 0, 0);
    expect((await svc.run(["update"])).code).toBe(0);
    expect([svc.bin(), svc.version(), svc.record().version]).toEqual([["svc", "svc.prev"], NEW, NEW]);
  },
);

test("a rollback needs an earlier program, which runs", async () => {
  const svc = install();
  expect((await svc.run(["update", "--rollback", "--json"])).json().error.message).toContain(
    "no earlier version",
  );
  writeFileSync(`${svc.program}.prev`, "#!/bin/sh\nexit 1\n");
  chmodSync(`${svc.program}.prev`, 0o755);
  expect((await svc.run(["update", "--rollback"])).code).toBe(1);
  expect([svc.bin(), svc.version()]).toEqual([["svc", "svc.prev"], VERSION]);
});

test.each([
  ["/lib/node_modules/svc-cli/bin/svc", "npm install -g svc-cli@latest", "npm uninstall -g svc-cli"],
  ["/opt/homebrew/bin/svc", "brew upgrade svc", "brew uninstall svc"],
  ["/Cellar/svc/1.0/bin/svc", "brew upgrade svc", "brew uninstall svc"],
  ["/own/svc", "install.sh", "Remove that file"],
])("the program %s belongs to another installer, which is named", async (path, update, uninstall) => {
  const svc = install();
  const program = join(svc.home.home, path);
  mkdirSync(join(program, ".."), { recursive: true });
  writeFileSync(program, fakeSvc(VERSION));
  for (const [verb, command] of [
    ["update", update],
    ["uninstall", uninstall],
  ] as const) {
    const refused = await svc.run([verb, "--json"], { self: [program] });
    expect([refused.code, refused.json().error]).toEqual([
      1,
      {
        code: "update_unsupported",
        message: expect.stringContaining(program),
        hint: expect.stringContaining(command),
      },
    ]);
  }
  expect(svc.bin()).toEqual(["svc"]);
});

test("from the source tree, the commands to update it are named", async () => {
  const root = join(import.meta.dir, "../..");
  const refused = await install().run(["update"], { self: ["bun", join(root, "cli/main.ts")] });
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringContaining(`cd ${root} && git pull && npm run build`),
  ]);
});

test.each([
  ["it is not JSON", "{"],
  ["a program of another name", { files: ["/etc/passwd", "/etc/passwd.prev"] }],
  ["a relative path", { files: ["svc", "svc.prev"] }],
  ["a link of another name", { links: ["/etc/passwd"] }],
  ["a source that is no URL", { source: "file:///x" }],
  ["a key that is none", { public_key: "x" }],
  ["another platform", { platform: "plan9-x64" }],
])("a record is refused: %s", async (_, record) => {
  const svc = installSvc(server.url, key, typeof record === "string" ? {} : record);
  if (typeof record === "string") writeFileSync(join(svc.home.home, ".svc/install.json"), record);
  for (const verb of ["update", "uninstall"]) {
    const refused = await svc.run([verb, "--json"]);
    expect([refused.code, refused.json().error.code]).toEqual([1, "install_record_invalid"]);
  }
});

test("one action at a time, and only versions", async () => {
  const svc = install();
  for (const flags of [
    ["--check", "--rollback"],
    ["--version", "../1"],
    ["--version", "1.0.0", "--check"],
    ["now"],
  ])
    expect([flags, (await svc.run(["update", ...flags])).code]).toEqual([flags, 2]);
  // the flag of svc itself has no value
  expect((await svc.run(["--version"])).out).toBe(`${VERSION}\n`);
  expect((await svc.run(["-V"])).out).toBe(`${VERSION}\n`);
});
