import { describe, expect, test } from "bun:test";
import { type Framing, HEAD_MAX_BYTES, headLength, readRequestHead } from "../../src/splice/head.ts";
import { HeadError } from "../../src/splice/head-error.ts";
import { accepted, range, TOKEN } from "../helpers/characters.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");

function read(...lines: string[]): ReturnType<typeof readRequestHead> {
  const head = `${lines.join("\r\n")}\r\n\r\n`;
  const wire = bytes(`${head}Next: 1\r\n\r\n`);
  const length = headLength(wire);
  expect(length).toBe(head.length);
  return readRequestHead(wire, length);
}

const withFields = (...lines: string[]) => read("GET / HTTP/1.1", "Host: a", ...lines);

/** Status and sentence by which it is refused; null: it is not. */
function refusal(...lines: string[]): [number, string] | null {
  try {
    read(...lines);
    return null;
  } catch (error) {
    if (error instanceof HeadError) return [error.status, error.message];
    throw error;
  }
}

describe("the length of a head", () => {
  /** A head of so many bytes. */
  const headOf = (length: number) => `GET /${"x".repeat(length - 9)}\r\n\r\n`;

  test.each([0, 1, 10_000])("is at most 32 KiB, after %d bytes of something else", (from) => {
    const before = "\n".repeat(from);
    expect(HEAD_MAX_BYTES).toBe(32_768);
    expect(headLength(bytes(`${before}${headOf(32_768)}next`), from)).toBe(32_768);
    expect(() => headLength(bytes(`${before}${headOf(32_769)}next`), from)).toThrow("too long");
    expect(headLength(bytes(before + "x".repeat(32_768)), from)).toBe(-1);
    expect(() => headLength(bytes(before + "x".repeat(32_769)), from)).toThrow("too long");
  });

  test("is that of the first of two heads", () => {
    const wire = bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: b\r\n\r\n");
    expect([headLength(wire), headLength(wire, 27)]).toEqual([27, 28]);
  });

  test("is known for an empty head, which is rejected at once", () => {
    expect(headLength(bytes("\r\n\r\nGET /"))).toBe(4);
    expect(() => readRequestHead(bytes("\r\n\r\n"))).toThrow(HeadError);
  });
});

describe("a request line", () => {
  test("has a token of at most 32 characters as method, and visible ASCII as target", () => {
    const { method, target } = read("PATCH /a?b HTTP/1.1", "Host: a");
    expect([method, target]).toEqual(["PATCH", "/a?b"]);
    expect(accepted((character) => read(`${character} / HTTP/1.1`, "Host: a"))).toBe(TOKEN);
    expect(accepted((character) => read(`GET /${character} HTTP/1.1`, "Host: a"))).toBe(range("!", "~"));
    expect(read(`${"X".repeat(32)} / HTTP/1.1`, "Host: a").method).toHaveLength(32);
    expect(refusal(`${"X".repeat(33)} / HTTP/1.1`, "Host: a")?.[0]).toBe(400);
  });

  test.each<[string, number, string]>([
    ["GET  HTTP/1.1", 400, "The request line cannot be read."],
    ["GET  / HTTP/1.1", 400, "The request line cannot be read."],
    ["GET /a b HTTP/1.1", 400, "The request line cannot be read."],
    [" GET / HTTP/1.1", 400, "The request line cannot be read."],
    ["GET / HTTP/1.1 ", 400, "The request line cannot be read."],
    ["GET /\tHTTP/1.1", 400, "The request line cannot be read."],
    ["GET /", 400, "The request line cannot be read."],
    ["GET / http/1.1", 400, "The request line cannot be read."],
    ["GET / HTTP/1", 400, "The request line cannot be read."],
    ["GET / HTTP/11.1", 400, "The request line cannot be read."],
    ["GET / HTTP/1.10", 400, "The request line cannot be read."],
    ["GET / HTTP/0.9", 505, "Only HTTP/1.1 is supported."],
    ["GET / HTTP/2.0", 505, "Only HTTP/1.1 is supported."],
    ["GET a HTTP/1.1", 400, "The request target must begin with a slash."],
    ["GET http://a/ HTTP/1.1", 400, "The request target must begin with a slash."],
    ["GET * HTTP/1.1", 400, "The request target must begin with a slash."],
    ["OPTIONS ** HTTP/1.1", 400, "The request target must begin with a slash."],
    ["OPTIONS a/ HTTP/1.1", 400, "The request target must begin with a slash."],
    ["CONNECT a:443 HTTP/1.1", 400, "The request target must begin with a slash."],
    ["CONNECT / HTTP/1.1", 501, "CONNECT is not supported."],
  ])("is rejected: %s", (line, status, sentence) => {
    expect(refusal(line, "Host: a")).toEqual([status, sentence]);
  });

  test("may have the target * for OPTIONS", () => {
    expect(read("OPTIONS * HTTP/1.1", "Host: a").target).toBe("*");
  });

  test.each<[string, "1.0" | "1.1"]>([
    ["HTTP/1.0", "1.0"],
    ["HTTP/1.1", "1.1"],
    ["HTTP/1.9", "1.1"],
  ])("of %s is read as that of %s", (written, version) => {
    expect(read(`GET / ${written}`, "Host: a").version).toBe(version);
  });
});

describe("the host", () => {
  test.each(["a", "a.example:8080", "127.0.0.1", "[::1]:80", "A-z_0~9", ""])(
    "is read unchanged: %j",
    (host) => {
      expect(read("GET / HTTP/1.1", `Host: ${host}`).host).toBe(host);
    },
  );

  test("consists of letters, digits and the characters of addresses and ports", () => {
    const allowed = `-.0123456789:${range("A", "Z")}[]_${range("a", "z")}~`;
    expect(accepted((character) => read("GET / HTTP/1.1", `Host: a${character}b`))).toBe(allowed);
  });

  test("is optional in HTTP/1.0 only, and never given twice", () => {
    expect(read("GET / HTTP/1.0").host).toBe("");
    for (const lines of [
      ["GET / HTTP/1.1"],
      ["GET / HTTP/1.1", "Host: a", "host: a"],
      ["GET / HTTP/1.0", "Host: a", "host: b"],
    ])
      expect(refusal(...lines)).toEqual([400, "A request must have exactly one Host header."]);
  });

  test.each(["a@b", "a, b", "a b", "http://a", "a/", "a?", "a#", "a\\b", "\xe4"])(
    "is rejected: %s",
    (host) => {
      expect(refusal("GET / HTTP/1.1", `Host: ${host}`)).toEqual([400, "The Host header cannot be read."]);
    },
  );
});

describe("a header field", () => {
  test("has a token as name, and no control characters in its value", () => {
    const values = `\t${range(" ", "~")}${range("\x80", "\xff")}`;
    expect(accepted((character) => withFields(`${character}: b`))).toBe(TOKEN);
    expect(accepted((character) => withFields(`A: b${character}c`))).toBe(values);
  });

  test.each([
    ["X-a:b", "X-a", "x-a", "b"],
    ["X:   b  c   ", "X", "x", "b  c"],
    ["X: \t b\t ", "X", "x", "\t b\t"],
    ["X: \xa0b\xa0", "X", "x", "\xa0b\xa0"],
    ["X: a:b", "X", "x", "a:b"],
    ["X:", "X", "x", ""],
    ["X:   ", "X", "x", ""],
  ])("is read without the spaces around its value: %j", (line, name, key, value) => {
    const { fields } = withFields(line, "Last: 1");
    expect(fields).toEqual([
      { name: "Host", key: "host", value: "a" },
      { name, key, value },
      { name: "Last", key: "last", value: "1" },
    ]);
  });

  test.each([": b", "A : b", " A: b", "\tb", "A", "A\r: b", "A: b\rC: d", "A: b\nC: d", "\rA: b", "A: b\r"])(
    "that is ambiguous is rejected: %j",
    (line) => {
      expect(refusal("GET / HTTP/1.1", "Host: a", line)).toEqual([400, "A header field cannot be read."]);
      expect(refusal("GET / HTTP/1.1", line, "Host: a")).toEqual([400, "A header field cannot be read."]);
    },
  );

  test("is one of at most 128", () => {
    const others = (count: number) => Array.from({ length: count }, () => "A: b");
    expect(withFields(...others(127)).fields).toHaveLength(128);
    expect(refusal("GET / HTTP/1.1", "Host: a", ...others(128))?.[0]).toBe(431);
  });
});

describe("a request's body", () => {
  const TWICE = "The length of the body is given twice.";
  const UNREADABLE = "The Content-Length cannot be read.";
  const UNKNOWN = "The transfer coding is not supported.";

  test.each<[string[], Framing]>([
    [[], { kind: "none" }],
    [["Content-Length: 0"], { kind: "length", bytes: 0 }],
    [["content-length:   0012  "], { kind: "length", bytes: 12 }],
    [["Content-Length: 999999999999999"], { kind: "length", bytes: 999_999_999_999_999 }],
    [["Transfer-Encoding: chunked"], { kind: "chunked" }],
    [["transfer-encoding: CHUNKED"], { kind: "chunked" }],
  ])("ends according to its head: %j", (lines, framing) => {
    expect(withFields(...lines).framing).toEqual(framing);
  });

  test.each<[string[], number, string]>([
    [["Content-Length:"], 400, UNREADABLE],
    [["Content-Length: 1000000000000000"], 400, UNREADABLE],
    [["Content-Length: 1 2"], 400, UNREADABLE],
    [["Content-Length: 1\t"], 400, UNREADABLE],
    [["Content-Length: 1\xa0"], 400, UNREADABLE],
    [["Content-Length: +1"], 400, UNREADABLE],
    [["Content-Length: 0x1"], 400, UNREADABLE],
    [["Content-Length: -1"], 400, UNREADABLE],
    [["Content-Length: 1a"], 400, UNREADABLE],
    [["Content-Length: a1"], 400, UNREADABLE],
    [["Content-Length: 1.0"], 400, UNREADABLE],
    [["Content-Length: 1, 1"], 400, UNREADABLE],
    [["Content-Length: 1", "Content-Length: 1"], 400, TWICE],
    [["Content-Length: 1", "content-length: 2"], 400, TWICE],
    [["Content-Length: 0", "Transfer-Encoding: chunked"], 400, TWICE],
    [["Transfer-Encoding:", "Content-Length: 0"], 400, TWICE],
    [["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], 400, TWICE],
    [["Transfer-Encoding:"], 501, UNKNOWN],
    [["Transfer-Encoding: identity"], 501, UNKNOWN],
    [["Transfer-Encoding: gzip, chunked"], 501, UNKNOWN],
    [["Transfer-Encoding: chunked, chunked"], 501, UNKNOWN],
    [["Transfer-Encoding: chunked\t"], 501, UNKNOWN],
    [["Transfer-Encoding: chunked\xa0"], 501, UNKNOWN],
    [["Transfer-Encoding: xchunked"], 501, UNKNOWN],
  ])("without a clear end is rejected: %j", (lines, status, sentence) => {
    expect(refusal("POST / HTTP/1.1", "Host: a", ...lines)).toEqual([status, sentence]);
  });

  test("has a length in HTTP/1.0, and no chunks", () => {
    expect(read("POST / HTTP/1.0", "Content-Length: 3").framing).toEqual({ kind: "length", bytes: 3 });
    const sentence = "HTTP/1.0 has no transfer coding.";
    expect(refusal("POST / HTTP/1.0", "Transfer-Encoding: chunked")).toEqual([400, sentence]);
  });
});

test.each<[string[], kept: { "1.1": boolean; "1.0": boolean }]>([
  [[], { "1.1": true, "1.0": false }],
  [["Connection: keep-alive"], { "1.1": true, "1.0": true }],
  [["Connection: KEEP-ALIVE"], { "1.1": true, "1.0": true }],
  [["Connection: close"], { "1.1": false, "1.0": false }],
  [["connection: Close"], { "1.1": false, "1.0": false }],
  [["Connection: keep-alive, close"], { "1.1": false, "1.0": false }],
  [["Connection: x\t ,\t close\t"], { "1.1": false, "1.0": false }],
  [["Connection: keep-alive", "Connection: x, close"], { "1.1": false, "1.0": false }],
  [["Connection: x", "Connection: x,keep-alive"], { "1.1": true, "1.0": true }],
  [["Connection: closed"], { "1.1": true, "1.0": false }],
  [["Connection: close\xa0"], { "1.1": true, "1.0": false }],
  [["X-Connection: close"], { "1.1": true, "1.0": false }],
])("a connection is kept alive or not after %j", (lines, kept) => {
  for (const version of ["1.1", "1.0"] as const)
    expect(read(`GET / HTTP/${version}`, "Host: a", ...lines).keepAlive).toBe(kept[version]);
});

test.each<[string[], string | null]>([
  [["Connection: Upgrade", "Upgrade: websocket"], "websocket"],
  [["Connection: keep-alive, upgrade", "Upgrade: WebSocket"], "WebSocket"],
  [["Upgrade: websocket"], null],
  [["Connection: Upgrade"], null],
  [["Connection: websocket", "Upgrade: websocket"], null],
])("an upgrade needs both of its headers: %j", (lines, protocol) => {
  expect(withFields(...lines).upgrade).toBe(protocol);
});
