import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Listener, listen } from "../../src/splice/listen.ts";
import { rawRequest, sendRaw } from "../helpers/raw-http.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-sockets-"));
const open: Listener[] = [];
afterAll(async () => {
  await Promise.all(open.map((listener) => listener.stop(0)));
  rmSync(folder, { recursive: true, force: true });
});

/** Passes everything on to a unix socket. @returns its URL */
function passingTo(unix: string): string {
  const listener = listen(
    { hostname: "127.0.0.1", port: 0 },
    (head) => ({ to: { unix }, head: `${head.method} ${head.target} HTTP/1.1\r\nHost: x\r\n\r\n` }),
    (status, message) => ({ status, body: message }),
  );
  open.push(listener);
  return `http://127.0.0.1:${listener.port}`;
}

test("a request for a unix socket that is gone is answered, instead of waiting for ever", async () => {
  const url = passingTo(join(folder, "none"));
  for (const method of ["GET", "POST"])
    expect(await sendRaw(url, rawRequest("/", ["Host: x"], method))).toMatchObject({ status: 502 });
});
