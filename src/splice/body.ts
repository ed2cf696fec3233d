import type { Framing } from "./head.ts";
import { HeadError } from "./head-error.ts";

/** Finds the end of a body in the bytes of a connection, without storing them. */
export interface Body {
  /**
   * @returns how many of the bytes after `from` belong to the body: all of them, unless it ends among them
   * @throws HeadError
   */
  take(bytes: Buffer, from: number): number;
  readonly ended: boolean;
}

/** A chunk's size with its extensions; and the trailers together. */
const LINE_MAX_BYTES = 1024;
const TRAILERS_MAX_BYTES = 16 * 1024;
/** 13 hex digits are what a number can hold; extensions (RFC 9112, 7.1.1) without the blanks that few servers take. */
const CHUNK_LINE =
  /^([0-9A-Fa-f]{1,13})(?:;[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"[\t\x20\x21\x23-\x5b\x5d-\x7e]*"))?)*$/;
const TRAILER = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/;

/** Fields of framing, routing and authentication are not allowed in trailers (RFC 9110, 6.5.1), but some servers read them. */
const NO_TRAILER =
  /^(?:(?:content-length|transfer-encoding|connection|host|upgrade|keep-alive|te|trailer|expect|authorization|content-encoding|content-type|content-range|set-cookie|cookie|forwarded|x-real-ip):|proxy-|x-forwarded-|x-svc-)/i;

/** @param onContent receives the content in pieces, without the framing of chunks */
export function createBody(framing: Framing, onContent: (bytes: Buffer) => void = ignore): Body {
  if (framing.kind === "chunked") return chunked(onContent);
  if (framing.kind === "close") return { take: (bytes, from) => bytes.length - from, ended: false };
  if (framing.kind === "none" || framing.bytes === 0) return NONE;
  return counted(framing.bytes, onContent);
}

/** Shared by all requests without a body. */
const NONE: Body = { take: () => 0, ended: true };

function ignore(): void {}

function counted(length: number, onContent: (bytes: Buffer) => void): Body {
  let left = length;
  return {
    take(bytes, from) {
      const taken = Math.min(left, bytes.length - from);
      left -= taken;
      if (onContent !== ignore) onContent(bytes.subarray(from, from + taken));
      return taken;
    },
    get ended() {
      return left === 0;
    },
  };
}

/** RFC 9112, 7.1, strictly: every line ends with CRLF, and sizes are plain. */
function chunked(onContent: (bytes: Buffer) => void): Body {
  let state: "size" | "data" | "data end" | "trailers" | "ended" = "size";
  let left = 0;
  let trailerBytes = 0;
  /** The beginning of a line whose end has not arrived yet. */
  let line = "";

  return {
    take(bytes, from) {
      let at = from;
      while (at < bytes.length && state !== "ended") at = step(bytes, at);
      return at - from;
    },
    get ended() {
      return state === "ended";
    },
  };

  function step(bytes: Buffer, at: number): number {
    if (state === "data") {
      const taken = Math.min(left, bytes.length - at);
      left -= taken;
      if (onContent !== ignore) onContent(bytes.subarray(at, at + taken));
      if (left === 0) state = "data end";
      return at + taken;
    }
    const newline = bytes.indexOf(10, at);
    const end = newline < 0 ? bytes.length : newline + 1;
    if (line.length + end - at > LINE_MAX_BYTES) throw broken();
    line += bytes.toString("latin1", at, end);
    if (newline >= 0) {
      const whole = line;
      line = "";
      if (!whole.endsWith("\r\n")) throw broken();
      onLine(whole.slice(0, -2));
    }
    return end;
  }

  function onLine(text: string): void {
    if (state === "data end") {
      if (text !== "") throw broken();
      state = "size";
    } else if (state === "size") {
      const size = CHUNK_LINE.exec(text)?.[1];
      if (size === undefined) throw broken();
      left = Number.parseInt(size, 16);
      state = left === 0 ? "trailers" : "data";
    } else if (text === "") {
      state = "ended";
    } else {
      trailerBytes += text.length;
      if (trailerBytes > TRAILERS_MAX_BYTES || !TRAILER.test(text) || NO_TRAILER.test(text)) throw broken();
    }
  }
}

function broken(): HeadError {
  return new HeadError(400, "The chunks of the body cannot be read.");
}

/** @returns a check of a body's content, which throws HeadError at the first byte over the limit */
export function limitBody(maxBytes: number): (bytes: Buffer) => void {
  let left = maxBytes;
  return (bytes) => {
    left -= bytes.length;
    if (left < 0) throw tooLarge(maxBytes);
  };
}

export function tooLarge(maxBytes: number): HeadError {
  return new HeadError(413, `The body is larger than ${maxBytes} bytes.`);
}
