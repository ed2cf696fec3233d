import { expect, test } from "bun:test";
import { judge, type Probes, summaryOf } from "../../../cli/commands/self-host/preflight.ts";

const GB = 1e9;
const READY = {
  state: "ready",
  version: "20.10.24",
  endpoint: "unix:///var/run/docker.sock",
  isDesktop: false,
  isRootless: false,
  folder: "/var/lib/docker",
} as const;
/** Recorded on a machine that lacks nothing. */
const GOOD: Probes = {
  mode: "compose",
  platform: "linux",
  isNew: true,
  engine: READY,
  compose: ["docker", "compose"],
  hasGit: false,
  hasSandboxes: false,
  ports: [{ setting: "SVC_PORT", address: "127.0.0.1", port: 13738, problem: null }],
  disk: 40 * GB,
  memory: 16 * GB,
};
const NATIVE: Probes = {
  ...GOOD,
  mode: "native",
  engine: { state: "missing" },
  compose: null,
  hasGit: true,
  hasSandboxes: true,
};
const [API] = GOOD.ports;
const port = (problem: Probes["ports"][number]["problem"], address = "127.0.0.1"): Partial<Probes> => ({
  ports: API ? [{ ...API, address, problem }] : [],
});

const TABLE: [string, Probes, string[]][] = [
  ["nothing missing", GOOD, []],
  ["nothing missing without Docker", NATIVE, []],
  ["no Docker", { ...GOOD, engine: { state: "missing" }, compose: null }, ["error Docker is not installed."]],
  [
    "an engine that was recorded as stopped",
    { ...GOOD, ...port("in use"), engine: { state: "silent", reason: "Is the docker daemon running?" } },
    ["error The Docker engine does not answer: Is the docker daemon running?"],
  ],
  [
    "an engine on another machine",
    { ...GOOD, engine: { ...READY, endpoint: "ssh://ada:pw@build.example" } },
    ["error The Docker engine is not on this machine: ssh://build.example."],
  ],
  [
    "a rootless engine",
    { ...GOOD, engine: { ...READY, isRootless: true } },
    [
      "error The Docker engine is rootless: a server in a container cannot reach the sandboxes of its sessions.",
    ],
  ],
  [
    "Docker Desktop",
    { ...GOOD, engine: { ...READY, isDesktop: true } },
    ["warning Docker Desktop was not tried with this command."],
  ],
  ["no Compose", { ...GOOD, compose: null }, ["error Docker Compose is not installed."]],
  [
    "nothing to run sessions in",
    { ...NATIVE, hasSandboxes: false },
    ["warning Sessions cannot start: neither bubblewrap nor a Docker engine was found."],
  ],
  ["no git", { ...NATIVE, hasGit: false }, ["error git is not installed."]],
  [
    "a port in use",
    { ...NATIVE, ...port("in use") },
    ["error svc cannot listen on 127.0.0.1:13738 (SVC_PORT): in use."],
  ],
  [
    "an address of another machine",
    { ...NATIVE, ...port("no such address", "fd00::1") },
    ["error svc cannot listen on [fd00::1]:13738 (SVC_PORT): no such address."],
  ],
  [
    "2.9 GB of disk on Docker",
    { ...GOOD, disk: 2.9 * GB },
    ["error The disk has 2.9 GB free; svc needs 3.0 GB, and more for repositories and sandboxes."],
  ],
  [
    "2.9 GB of disk without Docker",
    { ...NATIVE, disk: 2.9 * GB },
    ["warning The disk has 2.9 GB free; svc needs 1.0 GB, and more for repositories and sandboxes."],
  ],
  ["an unknown disk", { ...GOOD, disk: null }, []],
  [
    "a machine with 1 GB",
    { ...NATIVE, memory: GB },
    ["warning The machine has 1.0 GB of memory: too little for a session, which may use 2 GB."],
  ],
  [
    "a machine with 256 MB",
    { ...NATIVE, memory: 0.25 * GB },
    ["error The machine has 0.3 GB of memory: too little for a session, which may use 2 GB."],
  ],
];

test.each(TABLE)("%s", (_, probes, expected) => {
  const findings = judge(probes);
  expect(findings.map(({ level, message }) => `${level} ${message}`)).toEqual(expected);
  for (const { hint } of findings) expect(hint).toMatch(/^[A-Z].{10}/);
});

test("a server that is in Docker already is not sent elsewhere", () => {
  for (const engine of [{ state: "missing" }, { state: "silent", reason: "" }] as const) {
    const hintOf = (isNew: boolean) => judge({ ...GOOD, engine, isNew })[0]?.hint;
    expect([hintOf(true)?.includes("--native"), hintOf(false)?.includes("--native")]).toEqual([true, false]);
  }
});

test("a port that Caddy needs cannot be exchanged for another", () => {
  const caddy = (problem: Probes["ports"][number]["problem"]) =>
    judge({ ...GOOD, ports: [{ setting: "SVC_SELF_HOST_TLS", address: "0.0.0.0", port: 80, problem }] });
  expect(caddy("in use")).toMatchObject([{ level: "error", hint: expect.stringContaining("Caddy needs") }]);
  // this user may not listen on it, but the engine may
  expect(caddy("not allowed")).toEqual([]);
});

test("a refused permission has another hint than a stopped engine", () => {
  const hintFor = (reason: string) => judge({ ...GOOD, engine: { state: "silent", reason } })[0]?.hint;
  expect(hintFor("dial unix /var/run/docker.sock: connect: permission denied")).toContain("group docker");
  expect(hintFor("connection refused")).toContain("systemctl start docker");
});

test("every problem is in the error, each with what to do", () => {
  const findings = judge({ ...GOOD, compose: null, disk: 0 });
  const { message, hint } = summaryOf(findings);
  expect(hint).toBeUndefined();
  for (const each of findings) expect(message).toContain(`- ${each.message} ${each.hint}`);
  expect(summaryOf(findings.slice(0, 1))).toEqual({
    message: "Docker Compose is not installed.",
    hint: expect.stringContaining("--native"),
  });
});
