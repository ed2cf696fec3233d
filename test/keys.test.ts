import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createKeys } from "../src/keys.ts";
import { fc } from "./helpers/property.ts";

const master = randomBytes(32);
const keys = createKeys(master);

test("encrypted text can be decrypted only for the same project and purpose", () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.uuid(),
      fc.uuid(),
      fc.string({ maxLength: 20 }),
      fc.string({ maxLength: 20 }),
      (text, one, other, purpose, another) => {
        const sealed = keys.seal(one, purpose, text.toWellFormed());
        expect(keys.open(one, purpose, sealed)).toBe(text.toWellFormed());
        if (one !== other) expect(() => keys.open(other, purpose, sealed)).toThrow();
        if (purpose !== another) expect(() => keys.open(one, another, sealed)).toThrow();
        expect(() => createKeys(randomBytes(32)).open(one, purpose, sealed)).toThrow();
      },
    ),
  );
});

test("detects any changed bit, and never encrypts alike twice", () => {
  const sealed = Buffer.from(keys.seal("p", "x", "secret"), "base64url");
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const bent = Buffer.from(sealed);
    bent[bit >> 3] = (bent[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(() => keys.open("p", "x", bent.toString("base64url"))).toThrow();
  }
  expect(keys.seal("p", "x", "secret")).not.toBe(keys.seal("p", "x", "secret"));
});

test("a token's hash and the fingerprint depend on the master key", () => {
  const other = createKeys(randomBytes(32));
  expect(keys.hashToken("t")).toBe(createKeys(master).hashToken("t"));
  expect(keys.hashToken("t")).not.toBe(other.hashToken("t"));
  expect(keys.fingerprint).not.toBe(other.fingerprint);
  expect(keys.hashToken("t")).not.toContain(keys.fingerprint);
});
