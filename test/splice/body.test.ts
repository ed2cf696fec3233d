import { describe, expect, test } from "bun:test";
import { createBody } from "../../src/splice/body.ts";
import type { Framing } from "../../src/splice/head.ts";
import { HeadError } from "../../src/splice/head-error.ts";
import { accepted, range, TOKEN } from "../helpers/characters.ts";

const HEAD = "the head before it\r\n\r\n";
const CHUNKED: Framing = { kind: "chunked" };

interface Taken {
  content: string;
  /** Bytes of the body. */
  bytes: number;
  ended: boolean;
}

/** @throws HeadError */
function take(framing: Framing, ...pieces: string[]): Taken {
  let content = "";
  let bytes = 0;
  const body = createBody(framing, (piece) => {
    content += piece.toString("latin1");
  });
  for (const piece of pieces) bytes += body.take(Buffer.from(HEAD + piece, "latin1"), HEAD.length);
  return { content, bytes, ended: body.ended };
}

/** The content of a body that comes at once, and again byte by byte. @throws when it is refused, or not whole */
function contentOf(wire: string): string {
  const whole = take(CHUNKED, wire);
  expect(take(CHUNKED, ...wire)).toEqual(whole);
  if (!whole.ended || whole.bytes !== wire.length) throw new Error("the body is not whole");
  return whole.content;
}

const withTrailers = (...lines: string[]) => `0\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;

test.each<[string, Framing, string, Taken]>([
  ["without one", { kind: "none" }, "next", { content: "", bytes: 0, ended: true }],
  ["of length 0", { kind: "length", bytes: 0 }, "next", { content: "", bytes: 0, ended: true }],
  ["of length 1", { kind: "length", bytes: 1 }, "next", { content: "n", bytes: 1, ended: true }],
  ["of just its length", { kind: "length", bytes: 3 }, "abc", { content: "abc", bytes: 3, ended: true }],
  ["before the next", { kind: "length", bytes: 3 }, "abcnext", { content: "abc", bytes: 3, ended: true }],
  ["one byte short", { kind: "length", bytes: 3 }, "ab", { content: "ab", bytes: 2, ended: false }],
  [
    "in chunks, before the next",
    CHUNKED,
    "1\r\na\r\n0\r\n\r\nnext",
    { content: "a", bytes: 11, ended: true },
  ],
  ["up to the connection's end", { kind: "close" }, "abc", { content: "", bytes: 3, ended: false }],
])("finds the end of a body: %s", (_, framing, wire, taken) => {
  expect(take(framing, wire)).toEqual(taken);
});

test("a chunked body ends only with its last byte, wherever it is split", () => {
  const wire = "5;a=b\r\nab\r\nc\r\n01\r\nd\r\n0\r\nX-Trailer: 1\r\n\r\n";
  for (let at = 0; at < wire.length; at++) {
    const { content, ...taken } = take(CHUNKED, wire.slice(0, at));
    expect(taken).toEqual({ bytes: at, ended: false });
    expect("ab\r\ncd").toStartWith(content);
    const whole = { content: "ab\r\ncd", bytes: wire.length, ended: true };
    expect(take(CHUNKED, wire.slice(0, at), wire.slice(at))).toEqual(whole);
  }
});

test("the content callback is optional", () => {
  for (const [framing, wire] of [
    [{ kind: "length", bytes: 3 }, "abc"],
    [CHUNKED, "3\r\nabc\r\n0\r\n\r\n"],
  ] as const) {
    const body = createBody(framing);
    expect([body.take(Buffer.from(wire), 0), body.ended]).toEqual([wire.length, true]);
  }
});

describe("a chunk's size", () => {
  const chunk = (size: string, content: string) => `${size}\r\n${content}\r\n0\r\n\r\n`;

  test("is hexadecimal, in either case", () => {
    expect(accepted((digit) => take(CHUNKED, `${digit}\r\n`))).toBe("0123456789ABCDEFabcdef");
    for (const size of ["9", "a", "A", "f", "F", "10", "1A"])
      expect(contentOf(chunk(size, "x".repeat(Number(`0x${size}`))))).toHaveLength(Number(`0x${size}`));
  });

  test("has at most as many digits as a number can hold", () => {
    expect(contentOf(chunk("0000000000001", "x"))).toBe("x");
    expect(() => contentOf(chunk("00000000000001", "x"))).toThrow(HeadError);
    expect(take(CHUNKED, "fffffffffffff\r\nabc")).toMatchObject({ content: "abc", ended: false });
  });

  test.each(["", " 1", "1 ", "\t1", "0x1", "+1", "-1", "1.0", "1,1", '"1"'])("is plain: not %j", (size) => {
    expect(() => contentOf(chunk(size, "x"))).toThrow(HeadError);
  });

  test.each(["\n", "\r", "\n\r", "\r\r\n", " \r\n"])("ends with CRLF: not %j", (end) => {
    expect(() => contentOf(`1${end}x\r\n0\r\n\r\n`)).toThrow();
    expect(() => contentOf(`1\r\nx${end}0\r\n\r\n`)).toThrow();
    expect(() => contentOf(`0\r\n${end}`)).toThrow();
  });
});

describe("a chunk's extension", () => {
  const extended = (extension: string) => contentOf(`1${extension}\r\nx\r\n0\r\n\r\n`);

  test.each([";a", ";a;b", ";a=b", ";a=b;c", ';a=""', ';a="b; c"', ';a="b";c=d'])(
    "is skipped: %s",
    (text) => {
      expect(extended(text)).toBe("x");
    },
  );

  test.each([
    ";",
    ";;a",
    "; a",
    ";a ",
    ";a =b",
    ";a= b",
    ";a=",
    ";=b",
    ';a="',
    ';a="b',
    ';a=b"',
    ';a="b"c',
    "=a",
  ])("that is invalid is rejected: %s", (text) => {
    expect(() => extended(text)).toThrow(HeadError);
  });

  test("has a token as its name, and a token or a quoted text without escapes as its value", () => {
    expect(accepted((character) => extended(`;${character}`))).toBe(TOKEN);
    expect(accepted((character) => extended(`;a=${character}`))).toBe(TOKEN);
    expect(accepted((character) => extended(`;a="${character}"`))).toBe(
      `\t !${range("#", "[")}${range("]", "~")}`,
    );
  });
});

describe("trailers", () => {
  test("have a token as name, and no control characters in their value", () => {
    expect(accepted((character) => contentOf(withTrailers(`${character}: b`)))).toBe(TOKEN);
    const values = `\t${range(" ", "~")}${range("\x80", "\xff")}`;
    expect(accepted((character) => contentOf(withTrailers(`A: ${character}`)))).toBe(values);
  });

  test.each(["A:", "A:b", "A-1: b: c"])("may be any fields: %s", (line) => {
    expect(contentOf(withTrailers(line, line))).toBe("");
  });

  test.each([": b", " A: b", "A : b", "A", "A B: c", "\tA: b"])(
    "that are invalid are rejected: %j",
    (line) => {
      expect(() => contentOf(withTrailers(line))).toThrow(HeadError);
    },
  );

  const FORBIDDEN = [
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "Host",
    "Upgrade",
    "Keep-Alive",
    "TE",
    "Trailer",
    "Expect",
    "Authorization",
    "Content-Encoding",
    "Content-Type",
    "Content-Range",
    "Set-Cookie",
    "Cookie",
    "Forwarded",
    "X-Real-IP",
  ];
  const FORBIDDEN_BEGINNINGS = ["Proxy-", "X-Forwarded-", "X-Svc-"];

  test.each([
    ...FORBIDDEN,
    ...FORBIDDEN_BEGINNINGS.flatMap((name) => [`${name}A`, `${name}1`, `${name}z_9`]),
  ])("must not change framing, routing or the caller's identity: %s", (name) => {
    for (const written of [name, name.toLowerCase(), name.toUpperCase()])
      expect(() => contentOf(withTrailers("A: b", `${written}: c`))).toThrow(HeadError);
  });

  test.each([...FORBIDDEN, ...FORBIDDEN_BEGINNINGS])(
    "may have a name that only contains one of these: %s",
    (name) => {
      expect(contentOf(withTrailers(`A-${name}: b`))).toBe("");
      if (FORBIDDEN.includes(name)) expect(contentOf(withTrailers(`${name}s: b`))).toBe("");
    },
  );

  test("have at most 16 KiB in total", () => {
    const full = Array.from({ length: 16 }, () => `A: ${"x".repeat(1000 - 3)}`);
    const rest = (bytes: number) => `A: ${"x".repeat(bytes - 3)}`;
    expect(contentOf(withTrailers(...full, rest(384)))).toBe("");
    expect(() => contentOf(withTrailers(...full, rest(385)))).toThrow(HeadError);
  });
});

describe("a line between chunks", () => {
  test.each<[string, (bytes: number) => string]>([
    ["a size with its extension", (bytes) => `1;${"a".repeat(bytes - 4)}\r\nx\r\n0\r\n\r\n`],
    ["a trailer", (bytes) => withTrailers(`A:${"a".repeat(bytes - 4)}`)],
  ])("has at most 1024 bytes with its end: %s", (_, wireOf) => {
    expect(contentOf(wireOf(1024))).toBeString();
    expect(() => contentOf(wireOf(1025))).toThrow(HeadError);
  });

  test("is rejected as soon as it is too long", () => {
    const begun = (bytes: number) => `1;${"a".repeat(bytes - 2)}`;
    for (const pieces of [(wire: string) => [wire], (wire: string) => [...wire]]) {
      expect(take(CHUNKED, ...pieces(begun(1024)))).toMatchObject({ bytes: 1024, ended: false });
      expect(() => take(CHUNKED, ...pieces(begun(1025)))).toThrow(HeadError);
    }
  });
});
