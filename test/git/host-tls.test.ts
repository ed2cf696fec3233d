import { expect } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../../scripts/binaries.ts";
import { cleanEnvironment } from "../helpers/api.ts";
import { temporary } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";

const test = needs("openssl", Bun.which("openssl") !== null);
const SHA = "0123456789".repeat(4);

test("a request goes to the checked address, and the certificate must match the name", async () => {
  await using server = await serveTls("git.example");
  const call = (name: string, address: string) =>
    server.run(`
      const { callHost } = await import(${JSON.stringify(join(ROOT, "src/git/hosts/call.ts"))});
      const answer = await callHost({
        method: "GET", url: "https://${name}:${server.port}/x%2Fy?z=%27", headers: {}, body: null,
        address: "${address}", maxBytes: 1000, signal: AbortSignal.timeout(5000),
      }).catch((error) => error.code);
      console.log(JSON.stringify(answer));`);
  const { answer } = await call("git.example", "127.0.0.1");
  expect(answer).toMatchObject({ host: `git.example:${server.port}`, path: "/x%2Fy" });
  expect(await call("other.example", "127.0.0.1")).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
  expect(server.paths).toEqual(["/x%2Fy"]);
});

test("the API of a configured host can have a private address", async () => {
  await using server = await serveTls("127.0.0.1");
  const make = (hosts: object[]) =>
    server.run(`
      const { createGit } = await import(${JSON.stringify(join(ROOT, "src/git/create.ts"))});
      const quiet = { debug() {}, info() {}, warn() {}, error() {} };
      const git = await createGit({
        dataDir: ${JSON.stringify(server.directory)}, allowPrivate: false, sshKeys: "project", log: quiet,
        hosts: ${JSON.stringify(hosts)},
      });
      const repo = { id: crypto.randomUUID(), url: "https://127.0.0.1:${server.port}/o/n.git",
        credential: { username: "u", token: "t0ken" } };
      const made = await git.createBranch(repo, { branch: "new", base: "main" }).catch((error) => error.code);
      await git.close();
      console.log(JSON.stringify(made));`);
  expect(await make([])).toBe("repo_not_allowed");
  expect(server.paths).toEqual([]);
  expect(await make([{ origin: `https://127.0.0.1:${server.port}`, kind: "gitea" }])).toBe(SHA);
  expect(server.paths).toEqual(["/api/v1/repos/o/n/branches/main", "/api/v1/repos/o/n/branches"]);
});

/** A server on loopback with a certificate for a name, and a way to run code that trusts it. */
async function serveTls(name: string) {
  const directory = await temporary();
  const [key, cert] = [join(directory.path, "key.pem"), join(directory.path, "cert.pem")];
  const san = /^[\d.]+$/.test(name) ? `IP:${name}` : `DNS:${name}`;
  const made = Bun.spawnSync(
    ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"].concat(
      ["-days", "2", "-subj", "/CN=test", "-addext", `subjectAltName=${san}`, "-keyout", key, "-out", cert],
    ),
  );
  if (!made.success) throw new Error(made.stderr.toString());
  const paths: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { key: Bun.file(key), cert: Bun.file(cert) },
    fetch(request) {
      const path = new URL(request.url).pathname;
      paths.push(path);
      const branch = request.method === "POST" ? "new" : "main";
      const body = { host: request.headers.get("host"), path, name: branch, commit: { id: SHA } };
      return Response.json(body, { status: request.method === "POST" ? 201 : 200 });
    },
  });
  return {
    directory: directory.path,
    port: server.port,
    paths,
    async run(code: string) {
      const env = { ...cleanEnvironment(), NODE_EXTRA_CA_CERTS: cert };
      const child = Bun.spawn([process.execPath, "-e", code], { env, stdout: "pipe", stderr: "pipe" });
      const [out, err] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      if ((await child.exited) !== 0) throw new Error(err);
      return JSON.parse(out);
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await directory[Symbol.asyncDispose]();
    },
  };
}
