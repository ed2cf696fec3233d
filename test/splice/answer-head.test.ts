import { describe, expect, test } from "bun:test";
import { type Framing, type ResponseHead, readResponseHead } from "../../src/splice/head.ts";
import { HeadError } from "../../src/splice/head-error.ts";
import { accepted, range, TOKEN } from "../helpers/characters.ts";

const BEFORE = "HTTP/1.1 100 Continue\r\nContent-Length: 99\r\n\r\n";
const AFTER = "Content-Length: 98\r\n\r\n";

/** Reads a head among other bytes. */
function answer(method: string, ...lines: string[]): ResponseHead {
  const head = `${lines.join("\r\n")}\r\n\r\n`;
  const to = BEFORE.length + head.length;
  return readResponseHead(Buffer.from(BEFORE + head + AFTER, "latin1"), BEFORE.length, to, method);
}

const ok = (...lines: string[]) => answer("GET", "HTTP/1.1 200 OK", ...lines);

const NONE: Framing = { kind: "none" };
const CLOSE: Framing = { kind: "close" };
const CHUNKED: Framing = { kind: "chunked" };
const length = (bytes: number): Framing => ({ kind: "length", bytes });

describe("the status line of a response", () => {
  test.each([
    ["HTTP/1.1 200 OK", 200],
    ["HTTP/1.1 200 ", 200],
    ["HTTP/1.1 200", 200],
    ["HTTP/1.0 404 Not Found", 404],
    ["HTTP/1.1 100 Continue", 100],
    ["HTTP/1.1 599 x", 599],
    ["HTTP/1.1 999 x", 999],
  ])("has the status: %j", (line, status) => {
    expect(answer("GET", line, "Content-Length: 3").status).toBe(status);
  });

  test("has any text after the number", () => {
    const text = `\t${range(" ", "~")}${range("\x80", "\xff")}`;
    expect(accepted((character) => answer("GET", `HTTP/1.1 200 a${character}b`))).toBe(text);
  });

  test.each([
    "",
    " HTTP/1.1 200 OK",
    "xHTTP/1.1 200 OK",
    "http/1.1 200 OK",
    "HTTP/1.2 200 OK",
    "HTTP/2 200 OK",
    "HTTP/1.1  200 OK",
    "HTTP/1.1 20 OK",
    "HTTP/1.1 2000 OK",
    "HTTP/1.1 200OK",
    "HTTP/1.1 +20 OK",
    "HTTP/1.1 OK",
    "ICY 200 OK",
    // to some no final answer, to others one
    "HTTP/1.1 099 x",
    "HTTP/1.1 000 x",
  ])("is rejected if it is invalid: %j", (line) => {
    expect(() => answer("GET", line, "Content-Length: 3")).toThrow("The answer is not HTTP.");
  });
});

describe("the end of a response", () => {
  test.each<[string[], Framing]>([
    [[], CLOSE],
    [["Content-Length: 0"], length(0)],
    [["X-First: 1", "content-LENGTH:3"], length(3)],
    [["Content-Length: 3", "X-Last: 1"], length(3)],
    [["Content-Length:   3   "], length(3)],
    [["Content-Length: 999999999999999"], length(999_999_999_999_999)],
    [["Content-Length: 3, 3"], length(3)],
    [["Content-Length: 3", "Content-Length: 3"], length(3)],
    [["Content-Length: 3", "Content-Length: 3", "content-length: 3"], length(3)],
    [["Transfer-Encoding: chunked"], CHUNKED],
    [["transfer-encoding:Chunked"], CHUNKED],
    [["X-Content-Length: 3", "Content-Lengths: 3", "Content_Length: 3", "Dontent-Length: 3"], CLOSE],
    [["Content-Lengti: 3", "Transfer-Encodinh: chunked"], CLOSE],
  ])("follows from its headers: %j", (lines, framing) => {
    expect(ok(...lines).framing).toEqual(framing);
  });

  const TWICE = "The length of the answer is given twice.";
  const UNREADABLE = "The Content-Length cannot be read.";

  test.each<[string[], string]>([
    [["Content-Length: 3, 4"], TWICE],
    [["Content-Length: 3, 3, 4"], TWICE],
    [["Content-Length: 3, 4, 3"], TWICE],
    [["Content-Length: 3", "Content-Length: 4"], TWICE],
    [["Content-Length: 3", "Content-Length: 3", "Content-Length: 4"], TWICE],
    [["Content-Length: 3", "Content-Length: 03"], TWICE],
    [["Content-Length: 3,"], TWICE],
    [["Content-Length: 3", "Transfer-Encoding: chunked"], TWICE],
    [["Transfer-Encoding: chunked", "Content-Length: 3"], TWICE],
    [["Transfer-Encoding: chunked, chunked"], TWICE],
    [["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], TWICE],
    [["Transfer-Encoding: chunked", "Transfer-Encoding: gzip"], TWICE],
    [["Transfer-Encoding: gzip, chunked"], TWICE],
    [["Transfer-Encoding: gzip"], TWICE],
    [["Transfer-Encoding: identity"], TWICE],
    [["Transfer-Encoding:"], TWICE],
    [["Transfer-Encoding: chunked\xa0"], TWICE],
    [["Content-Length:"], UNREADABLE],
    [["Content-Length: 3a"], UNREADABLE],
    [["Content-Length: -3"], UNREADABLE],
    [["Content-Length: 3\xa0"], UNREADABLE],
    [["Content-Length: 1000000000000000"], UNREADABLE],
  ])("is rejected if it is ambiguous: %j", (lines, sentence) => {
    expect(() => ok(...lines)).toThrow(sentence);
    expect(() => ok("X-First: 1", ...lines, "X-Last: 1")).toThrow(sentence);
  });

  test.each([
    ["GET", 199, NONE],
    ["GET", 200, length(3)],
    ["GET", 203, length(3)],
    ["GET", 204, NONE],
    ["GET", 205, length(3)],
    ["GET", 303, length(3)],
    ["GET", 304, NONE],
    ["GET", 305, length(3)],
    ["POST", 200, length(3)],
    ["POST", 304, NONE],
    ["HEAD", 200, NONE],
    ["HEAD", 404, NONE],
    ["head", 200, length(3)],
  ] as const)("is its blank line if it has no body: %s with status %d", (method, status, framing) => {
    expect(answer(method, `HTTP/1.1 ${status} x`, "Content-Length: 3").framing).toEqual(framing);
  });

  test.each(["HEAD", "GET"])("is not checked if there is no body: %s", (method) => {
    const line = method === "HEAD" ? "HTTP/1.1 200 OK" : "HTTP/1.1 204 No Content";
    const fields = ["Content-Length: 3", "Transfer-Encoding: chunked"];
    expect(answer(method, line, ...fields).framing).toEqual(NONE);
  });
});

describe("the connection to the upstream", () => {
  const LENGTH = "Content-Length: 3";
  const CODED = "Transfer-Encoding: chunked";

  test.each<[string[], kept: { "1.1": boolean; "1.0": boolean }]>([
    [[LENGTH], { "1.1": true, "1.0": false }],
    [[LENGTH, "Connection: keep-alive"], { "1.1": true, "1.0": true }],
    [["connection:Keep-Alive", LENGTH], { "1.1": true, "1.0": true }],
    [[LENGTH, "Connection: close"], { "1.1": false, "1.0": false }],
    [[LENGTH, "Connection: x,\tCLOSE"], { "1.1": false, "1.0": false }],
    [[LENGTH, "Connection: close, keep-alive"], { "1.1": false, "1.0": false }],
    [[LENGTH, "Connection: keep-alive", "Connection: close"], { "1.1": false, "1.0": false }],
    [[LENGTH, "Connectiom: close"], { "1.1": true, "1.0": false }],
    // HTTP/1.0 has no chunks
    [[CODED, "Connection: keep-alive"], { "1.1": true, "1.0": false }],
    [[CODED], { "1.1": true, "1.0": false }],
    [["Connection: keep-alive"], { "1.1": false, "1.0": false }],
    [[], { "1.1": false, "1.0": false }],
  ])("is kept alive or not after %j", (lines, kept) => {
    for (const version of ["1.1", "1.0"] as const)
      expect(answer("GET", `HTTP/${version} 200 OK`, ...lines).keepAlive).toBe(kept[version]);
  });

  test("is kept alive after a response without a body", () => {
    expect(answer("GET", "HTTP/1.1 304 Not Modified").keepAlive).toBe(true);
    expect(answer("HEAD", "HTTP/1.0 200 OK", "Connection: keep-alive").keepAlive).toBe(true);
  });
});

test.each([
  ["text/event-stream", true],
  ["Text/Event-Stream", true],
  ["text/event-stream; charset=utf-8", true],
  ["text/event-stream;charset=utf-8", true],
  ["text/event-streams", false],
  ["text/html", false],
  ["multipart/mixed; of=text/event-stream", false],
  ["", false],
])("detects an event stream by its type: %j", (type, isEventStream) => {
  expect(ok(`Content-Type: ${type}`).isEventStream).toBe(isEventStream);
});

test("a response without a type is not an event stream", () => {
  expect(ok("X: text/event-stream").isEventStream).toBe(false);
});

describe("a header field of a response", () => {
  test("has a token as name, and no control characters in its value", () => {
    const values = `\t${range(" ", "~")}${range("\x80", "\xff")}`;
    expect(accepted((character) => ok(`${character}: b`))).toBe(TOKEN);
    expect(accepted((character) => ok(`A: b${character}c`))).toBe(values);
  });

  test.each([": b", "A : b", " A: b", "A", "A: b\rC: d", "A: b\nContent-Length: 3", "\rA: b"])(
    "that is ambiguous is rejected: %j",
    (line) => {
      for (const lines of [
        [line, "A: b"],
        ["A: b", line],
      ])
        expect(() => ok(...lines)).toThrow(HeadError);
    },
  );
});
