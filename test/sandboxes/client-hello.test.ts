import { expect, test } from "bun:test";
import { createServer } from "node:net";
import { connect as connectTls } from "node:tls";
import { readOpening } from "../../src/sandboxes/egress/client-hello.ts";
import { isFor } from "../../src/sandboxes/egress/tunnel.ts";
import { clientHello } from "../helpers/client-hello.ts";
import { fc } from "../helpers/property.ts";

const records = fc.integer({ min: 1, max: 200 });

test("the name is found in records of every size, and only when the message is complete", () => {
  fc.assert(
    fc.property(
      fc.domain(),
      records,
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      (name, size, part) => {
        const hello = clientHello([name], size);
        expect(readOpening(hello)).toEqual({ is: "tls", serverName: name });
        expect(readOpening(Buffer.concat([hello, Buffer.from("more")]))).toEqual({
          is: "tls",
          serverName: name,
        });
        expect(readOpening(hello.subarray(0, Math.floor(hello.length * part)))).toEqual({ is: "incomplete" });
      },
    ),
  );
});

test("a changed byte never makes it fail, and no other bytes are read as TLS with a name that they do not have", () => {
  const hello = clientHello(["allowed.test"], 50);
  fc.assert(
    fc.property(fc.nat(hello.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
      const changed = Buffer.from(hello);
      changed[at] = byte;
      const opening = readOpening(changed);
      if (opening.is !== "tls" || opening.serverName === null) return;
      const joined = Buffer.concat([changed]).toString("latin1");
      expect([...opening.serverName].every((character) => joined.includes(character))).toBe(true);
    }),
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void readOpening(Buffer.from(bytes))));
});

test.each<[string, Buffer, ReturnType<typeof readOpening>["is"]]>([
  ["nothing", Buffer.alloc(0), "incomplete"],
  ["HTTP", Buffer.from("GET / HTTP/1.1\r\n"), "other"],
  ["SSH", Buffer.from("SSH-2.0-x\r\n"), "other"],
  ["SSL 2", Buffer.from([0x80, 0x2e, 1, 3, 1]), "other"],
  ["two names", clientHello(["a.test", "b.test"]), "other"],
  ["an empty record", Buffer.from([22, 3, 1, 0, 0, 22, 3, 1]), "other"],
  ["another message", Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]), "other"],
  ["a message that is too long", Buffer.from([22, 3, 1, 0, 4, 1, 255, 255, 255]), "other"],
])("%s is %3$s", (_, bytes, is) => {
  expect(readOpening(bytes).is).toBe(is);
});

test("the first bytes of this runtime's own TLS client name the server", async () => {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const server = createServer((socket) => {
    let all = Buffer.alloc(0);
    socket.on("data", (bytes: Buffer) => {
      all = Buffer.concat([all, bytes]);
      if (readOpening(all).is !== "incomplete") resolve(all);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const client = connectTls({ host: "127.0.0.1", port, servername: "real.test" });
  client.on("error", () => {});
  expect(readOpening(await promise)).toEqual({ is: "tls", serverName: "real.test" });
  client.destroy();
  server.close();
});

test.each([
  ["tls", "a.test", "a.test", 443, true],
  ["tls", "A.test.", "a.test", 443, true],
  ["tls", "b.test", "a.test", 443, false],
  ["tls", "b.test", "a.test", 8443, false],
  ["tls", "x.a.test", "a.test", 443, false],
  ["tls", null, "a.test", 443, false],
  ["tls", null, "a.test", 8443, false],
  ["tls", null, "192.0.32.8", 443, true],
  ["tls", "a.test", "192.0.32.8", 443, false],
  ["other", null, "a.test", 443, false],
  ["other", null, "a.test", 22, true],
  ["incomplete", null, "a.test", 22, false],
] as const)("%s with the name %s, in a tunnel to %s:%d → %p", (is, serverName, host, port, passes) => {
  expect(isFor(is === "tls" ? { is, serverName } : { is }, { host, port })).toBe(passes);
});
