import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runGit, temporary } from "../helpers/git-repo.ts";
import { type Mirrored, mirrored } from "../helpers/mirrored.ts";
import { needs } from "../helpers/needs.ts";
import { generateKey, SSH_KEYGEN, sign, withSignature } from "../helpers/ssh-keys.ts";

const test = needs("ssh-keygen", SSH_KEYGEN);
const PGP = "-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n";

async function stateOf(place: Mirrored, commit: string) {
  const request = { commit, path: new Uint8Array(), skip: 0, limit: 1, signatures: true };
  return (await place.git.log(place.repo, request)).commits[0]?.signature;
}

test.each(["sha1", "sha256"] as const)("git agrees on signed commits (%s)", async (format) => {
  await using place = await mirrored({ format });
  await using keys = await temporary();
  const key = generateKey(keys.path, "ed25519");
  const allowed = join(keys.path, "allowed");
  writeFileSync(allowed, `* ${key.key}\n`);
  const { tip = "" } = await place.write([{ name: "tip", branch: "main", files: { a: "1\n" } }]);
  const object = `${await place.upstream.git("cat-file", "commit", tip)}\n`;
  const signed = sign(key, object);
  const [own, foreign] = format === "sha1" ? ["gpgsig", "gpgsig-sha256"] : ["gpgsig-sha256", "gpgsig"];
  const good = withSignature(object, signed, own);
  const rows: [what: string, object: string, state: string][] = [
    ["unsigned", object, "unsigned"],
    ["signed", good, "valid"],
    ["signed for the other object format too", withSignature(good, PGP, foreign), "valid"],
    ["signed for the other object format only", withSignature(object, signed, foreign), "unsigned"],
    ["another message", good.replace(/\n$/, "!\n"), "invalid"],
    ["another author", good.replace("author A", "author B"), "invalid"],
    ["a header more", good.replace(/^(committer .*)$/m, "$1\nx-header 1"), "invalid"],
    ["signed twice", withSignature(good, signed, own), "valid"],
    ["signed by OpenPGP", withSignature(object, PGP, own), "unknown_signature_type"],
    ["a signature in the message", `${object}${own} ${signed}`, "unsigned"],
    ["of another namespace", withSignature(object, sign(key, object, "file"), own), "malformed"],
  ];
  const env = { GIT_CONFIG_COUNT: "2", GIT_CONFIG_KEY_0: "gpg.format", GIT_CONFIG_VALUE_0: "ssh" };
  const trust = { GIT_CONFIG_KEY_1: "gpg.ssh.allowedSignersFile", GIT_CONFIG_VALUE_1: allowed };
  for (const [at, [what, bytes, state]] of rows.entries()) {
    const commit = await place.writeRaw(`b${at}`, Buffer.from(bytes));
    const verified = await stateOf(place, commit);
    expect([what, verified?.state]).toEqual([what, state]);
    if (verified?.state === "valid") expect(verified.key).toBe(key.key);
    const run = await runGit(place.upstream.directory, ["verify-commit", commit], {
      env: { ...env, ...trust },
      codes: [0, 1],
    });
    expect([what, run.code === 0]).toEqual([what, state === "valid"]);
  }
});

test("signatures are read only if they are asked for, and not of a commit that is too large", async () => {
  await using place = await mirrored({ git: { limits: { commitBytes: 1_000 } } });
  const { tip = "" } = await place.write([{ name: "tip", branch: "main", files: {} }]);
  const request = { commit: tip, path: new Uint8Array(), skip: 0, limit: 1 };
  const [plain] = (await place.git.log(place.repo, request)).commits;
  expect(plain && "signature" in plain).toBe(false);
  const object = await place.upstream.git("cat-file", "commit", tip);
  const large = await place.writeRaw("large", Buffer.from(`${object}\n${"x".repeat(2_000)}\n`));
  expect(await stateOf(place, large)).toEqual({ state: "unavailable" });
});
