import { describe, expect, test } from "bun:test";
import { decide } from "../../../src/sandboxes/docker/api-listeners.ts";
import { nameServersOf, ownAddresses } from "../../../src/sandboxes/docker/host-network.ts";
import { dockerfileFault } from "../../../src/sandboxes/docker/images/dockerfile.ts";
import { requireUser } from "../../../src/sandboxes/docker/images/images.ts";
import { addUser } from "../../../src/sandboxes/docker/images/user.ts";
import { portsIn } from "../../../src/sandboxes/docker/listening.ts";
import { outputOf } from "../../../src/sandboxes/docker/output.ts";
import { serviceName } from "../../../src/sandboxes/docker/services.ts";
import { readRequestHead } from "../../../src/splice/head.ts";

describe("a Dockerfile", () => {
  test.each([
    "ADD http://169.254.169.254/ /x",
    "add https://example.com/a /a",
    "FROM a\n  ADD --chown=1:1 http://10.0.0.1/a /a",
    "ADD \\\n  http://10.0.0.1/a \\\n /a",
    "ADD \\\n# a comment between\n\n  http://10.0.0.1/a /a",
    "A\\\nDD http://10.0.0.1/a /a",
    "# escape=`\nADD `\n http://10.0.0.1/a /a",
    'ADD ["http://10.0.0.1/a", "/a"]',
    'ADD ["\\u0068ttp:/" , "/a"]',
    "ARG where\nADD $where /a",
    "ADD ${where} /a",
    "ONBUILD ADD http://10.0.0.1/a /a",
    "onbuild  onbuild ADD http://10.0.0.1/a /a",
    "ADD git@example.com:a/b.git /a",
    "\ufeffADD http://10.0.0.1/a /a",
    "FROM a\r\nADD http://10.0.0.1/a /a\r\n",
  ])("that makes the engine download something is rejected: %j", (text) => {
    expect(dockerfileFault(text)).toContain("ADD");
  });

  test.each([
    "FROM debian:bookworm-slim\nADD files.tar.gz /",
    "RUN curl http://example.com/a && echo ADD http://example.com",
    "# ADD http://example.com/a /a\nFROM a",
    "COPY $where /a",
    "RUN echo \\\n ADD http://example.com/a",
    "ADD --chown=1:1 a b /c/",
    'ADD ["a b", "/c"]',
  ])("that does not is accepted: %j", (text) => {
    expect(dockerfileFault(text)).toBeNull();
  });
});

describe("the API listener", () => {
  const api = () => ({ hostname: "0.0.0.0", port: 8008 });
  const asked = (target: string) =>
    decide(
      readRequestHead(Buffer.from(`GET ${target} HTTP/1.1\r\nHost: a\r\nX-B: \xe9\r\n\r\n`, "latin1")),
      api,
    );

  test.each(["/v1/", "/v1/git/x.git/info/refs?service=git-upload-pack", "/v1/a%2Fb", "/v1/a/../b"])(
    "forwards %s unchanged",
    (target) => {
      const decision = asked(target);
      expect(decision).toMatchObject({ to: { hostname: "127.0.0.1", port: 8008 } });
      const head = "head" in decision ? decision.head : "";
      expect(head).toBe(`GET ${target} HTTP/1.1\r\nHost: a\r\nX-B: \xe9\r\n\r\n`);
    },
  );

  test.each([
    "/",
    "/v1",
    "/v2/",
    "/metrics",
    "/v1/../metrics",
    "/v1/..%2fmetrics/../../x",
    "/v1/%2e%2e/x",
    "/v1\\..\\x",
    "//v1/",
    "/x/../v1/",
  ])("rejects %s", (target) => {
    expect(asked(target)).toMatchObject({ answer: { status: 404 } });
  });
});

test("finds this machine's addresses in the kernel's routes", () => {
  const trie = `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.1.0.0/16 2 0 2
        |-- 10.1.0.0
           /16 link UNICAST
        |-- 10.1.2.3
           /32 host LOCAL
        |-- 10.1.255.255
           /32 link BROADCAST
     |-- 127.0.0.1
        /32 host LOCAL
     |-- 203.0.113.9
        /32 host LOCAL
Local:
        |-- 203.0.113.9
           /32 host LOCAL
`;
  expect(ownAddresses(trie)).toEqual(["10.1.2.3", "203.0.113.9"]);
  expect(ownAddresses("")).toEqual([]);
});

test("name servers are addresses outside of the machine", () => {
  const text =
    "# nameserver 9.9.9.9\nnameserver 10.0.0.2\nnameserver 127.0.0.53\nnameserver fe80::1\nsearch x\nnameserver 8.8.8.8 \n";
  expect(nameServersOf(text)).toEqual(["10.0.0.2", "8.8.8.8"]);
});

test.each([
  ["no files at all", "", "", 1000, "agent"],
  ["an agent user", "agent:x:1000:1000::/home:/bin/sh\n", "agent:x:1000:\n", 1000, null],
  [
    "another user with id 1000",
    "root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/:/bin/sh",
    "node:x:1000:",
    1001,
    "agent",
  ],
  ["a group at 1000", "root:x:0:0::/root:/bin/sh\n", "docker:x:1000:\n", 1001, "agent"],
  ["an agent that is root", "agent:x:0:0::/root:/bin/sh\n", "root:x:0:\n", 1000, "svc-agent"],
  ["an agent in root's group", "agent:x:1000:0::/root:/bin/sh\n", "root:x:0:\n", 1001, "svc-agent"],
] as const)("the agent's user, where an image has %s", (_, passwd, group, uid, name) => {
  const user = addUser(passwd, group);
  expect([user.uid, user.gid]).toEqual([uid, uid]);
  if (name === null) expect(user).toMatchObject({ passwd: null, group: null });
  else {
    expect(user.passwd).toEndWith(`\n${name}:x:${uid}:${uid}::/opt/svc/home:/bin/sh\n`);
    expect(user.group).toEndWith(`\n${name}:x:${uid}:\n`);
    expect(user.passwd?.startsWith(passwd || "root:")).toBe(true);
  }
});

test.each([
  ["node", 1001],
  ["root", 1000],
  ["daemon", 1000],
  ["odd", 1000],
  ["missing", 1000],
])("the agent runs as the user %s of an image only if that is an ordinary user", (wanted, uid) => {
  const passwd =
    "root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/:/bin/sh\nodd:x:1:1001::/:/bin/sh\nnode:x:1001:1001::/:/bin/sh\n";
  expect(addUser(passwd, "", wanted).uid).toBe(uid);
});

test("the ports of listening sockets are read from the tables of the kernel", () => {
  const table = `  sl  local_address rem_address   st tx_queue
   0: 00000000:1538 00000000:0000 0A 00000000:00000000
   1: 0100007F:1F40 0100007F:9C40 01 00000000:00000000
   0: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 0`;
  expect([...portsIn(table)]).toEqual([5432, 80]);
});

test.each([
  ["postgres", "postgres"],
  ["postgres:16", "postgres"],
  ["ghcr.io:443/team/my-db:1@sha256:0", "my-db"],
])("a service of the image %s is reached as %s", (image, name) => {
  expect(serviceName(image)).toBe(name);
});

test("removes the frames of a log, complete or truncated, and keeps its end", () => {
  const frame = (text: string, length = text.length) => {
    const head = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);
    head.writeUInt32BE(length, 4);
    return Buffer.concat([head, Buffer.from(text)]);
  };
  const log = Buffer.concat([frame("one\n"), frame(""), frame("two\n"), frame("thr", 5)]);
  expect(outputOf(log, 100).toString()).toBe("one\ntwo\nthr");
  expect(outputOf(log, 5).toString()).toBe("o\nthr");
  expect(outputOf(log.subarray(0, 3), 100)).toHaveLength(0);
});

test("an image says who its agent is, and that is not root", () => {
  expect(requireUser({ "svc.user": "1000:1001" })).toBe("1000:1001");
  for (const user of ["", "0:0", "0:1000", "1000:0", "1000", "agent:agent", "1000:1000 svc.libc=glibc"]) {
    expect(() => requireUser({ "svc.user": user })).toThrow("does not know the user of the agent");
  }
  expect(() => requireUser({ "svc.image": "sandbox svc.user=1000:1000" })).toThrow("svc.user");
});
