import { afterAll, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeApi } from "../helpers/cli-api.ts";
import { makeHome, svc } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const run = (args: string[], stdin = "") => svc(args, { home: makeHome(), env: api.env, stdin });

test("ls lists the keys", async () => {
  const { code, stdout } = await run(["signing-keys", "ls"]);
  expect([code, stdout]).toEqual([0, "3\tlaptop\tssh-ed25519\tSHA256:abc\t2026-11-20T10:00:00.000Z\n"]);
  api.on("GET /users/me/signing-keys", () => []);
  expect(await run(["signing-keys", "ls"])).toMatchObject({
    stdout: "",
    stderr: expect.stringContaining("svc signing-keys add"),
  });
});

test("add sends the key of a file or of standard input", async () => {
  const home = makeHome();
  const file = join(home.home, "id.pub");
  writeFileSync(file, "ssh-ed25519 BBBB ada\n");
  const added = await run(["signing-keys", "add", file, "--title", "desk"]);
  expect([added.code, added.stdout]).toEqual([0, "Added the signing key 3, desk (SHA256:abc).\n"]);
  expect(api.seen.at(-1)?.body).toEqual({ key: "ssh-ed25519 BBBB ada", title: "desk" });
  await run(["signing-keys", "add", "-"], "ssh-ed25519 CCCC\n");
  expect(api.seen.at(-1)?.body).toEqual({ key: "ssh-ed25519 CCCC" });
  expect((await run(["signing-keys", "add", join(home.home, "none.pub")])).code).toBe(1);
});

test("rm removes a key", async () => {
  expect((await run(["signing-keys", "rm", "3"])).stdout).toBe("Removed the signing key 3.\n");
  expect(api.seen.at(-1)).toMatchObject({ method: "DELETE", path: "/users/me/signing-keys/3" });
});
