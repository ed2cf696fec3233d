import { expect, test } from "bun:test";
import { freePort } from "../../scripts/free-port.ts";
import type { SvcError } from "../../src/contract/errors.ts";
import { isTransient } from "../../src/git/run/failure.ts";
import { serveGit } from "../helpers/git-http.ts";
import { createTestGit, temporary } from "../helpers/git-repo.ts";

/** Messages of git 2.39 to 2.51 with curl, GnuTLS, OpenSSL and OpenSSH. */
test.each([
  ["fatal: unable to access 'https://x.example/a.git/': Could not resolve host: x.example", true],
  ["ssh: Could not resolve hostname x.example: Temporary failure in name resolution", true],
  ["Failed to connect to x.example port 443 after 2 ms: Couldn't connect to server", true],
  ["Failed to connect to 127.0.0.1 port 1: Connection refused", true],
  ["ssh: connect to host x.example port 22: Connection timed out", true],
  ["ssh: connect to host x.example port 22: No route to host", true],
  ["Recv failure: Connection reset by peer", true],
  ["kex_exchange_identification: Connection closed by remote host", true],
  ["error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502", true],
  ["The requested URL returned error: 503", true],
  ["The requested URL returned error: 429", true],
  ["Operation timed out after 10000 milliseconds with 0 bytes received", true],
  ["gnutls_handshake() failed: The TLS connection was non-properly terminated.", true],
  ["OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to x.example:443", true],
  ["fatal: the remote end hung up unexpectedly", true],
  ["fatal: early EOF", true],
  ["fatal: Authentication failed for 'https://x.example/a.git/'", false],
  ["fatal: could not read Username for 'https://x.example': terminal prompts disabled", false],
  ["The requested URL returned error: 401", false],
  ["The requested URL returned error: 403", false],
  ["The requested URL returned error: 404", false],
  ["remote: Repository not found.\nfatal: repository 'https://x.example/a.git/' not found", false],
  ["git@x.example: Permission denied (publickey).\nfatal: Could not read from remote repository.", false],
  ["Host key verification failed.\nfatal: Could not read from remote repository.", false],
  ["fatal: '/srv/a.git' does not appear to be a git repository\nfatal: the remote end hung up", false],
  ["fatal: protocol error: bad line length character: zzzz", false],
  ["", false],
])("%s: another attempt may succeed: %p", (words, expected) => {
  expect(isTransient(words)).toBe(expected);
});

test("a listing says whether another attempt may succeed: not after what the host has decided", async () => {
  await using directory = await temporary();
  await using engine = await createTestGit({ dataDir: `${directory.path}/data` });
  let status = 500;
  using server = serveGit(directory.path, () => new Response("no", { status }));
  const retriesAfter = async (origin: string) => {
    const listing = engine.git.listBranches(engine.repo(`${origin}/up.git`), 20_000);
    const error = await listing.catch((reason: SvcError) => reason);
    return [Reflect.get(error, "code"), Reflect.get(Object(Reflect.get(error, "headers")), "Retry-After")];
  };
  const seen: unknown[] = [];
  for (status of [401, 403, 404, 429, 500, 503]) seen.push([status, ...(await retriesAfter(server.origin))]);
  seen.push(["refused", ...(await retriesAfter(`http://127.0.0.1:${await freePort()}`))]);
  expect(seen).toEqual([
    [401, "repo_unreachable", undefined],
    [403, "repo_unreachable", undefined],
    [404, "repo_unreachable", undefined],
    [429, "repo_unreachable", "5"],
    [500, "repo_unreachable", "5"],
    [503, "repo_unreachable", "5"],
    ["refused", "repo_unreachable", "5"],
  ]);
});
