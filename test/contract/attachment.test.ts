import { expect, test } from "bun:test";
import {
  attachedFile,
  attachedText,
  attachmentType,
  fileName,
  filePart,
} from "../../src/contract/attachment.ts";
import { PNG } from "../helpers/attachments.ts";
import { fc } from "../helpers/property.ts";

test.each([
  ["a PNG", PNG, "image/png"],
  ["a JPEG", Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]), "image/jpeg"],
  ["a GIF", Buffer.from("GIF89a\x01\x00"), "image/gif"],
  ["a WebP", Buffer.from("RIFF\x00\x0a\x00\x00WEBPVP8 "), "image/webp"],
  ["a PDF", Buffer.from("%PDF-1.7\n\x00"), "application/pdf"],
  ["text", Buffer.from("Grüße\n"), "text/plain"],
  ["a page, which is text", Buffer.from("<!doctype html><script>alert(1)</script>"), "text/plain"],
  ["a signature that is cut", PNG.subarray(0, 7), null],
  ["another container", Buffer.from("RIFF\x00\x0a\x00\x00WAVEfmt \x00"), null],
  ["a program", Buffer.from("\x7fELF\x02\x01\x01\x00"), null],
  ["text in another encoding", Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65]), null],
  ["nothing", Buffer.alloc(0), null],
])("%s is recognized by its content", (_, bytes, type) => {
  expect(attachmentType(bytes)).toBe(type as ReturnType<typeof attachmentType>);
});

test.each([
  ["shot.png", "shot.png"],
  ["/home/ada/../shot.png", "shot.png"],
  ["C:\\Users\\ada\\shot.png", "shot.png"],
  ["a\u202egnp.exe\n\u001b[31m", "agnp.exe[31m"],
  ["x".repeat(500), "x".repeat(200)],
  ["folder/", "file"],
])("the name of %j is one segment on one line", (path, name) => {
  expect(fileName(path)).toBe(name);
});

test("a file has the size of its bytes, which the runtime repeats in base64", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
      const data = Buffer.from(bytes).toString("base64");
      const part = filePart({ name: "a.txt", type: "text/plain", data });
      expect(attachedFile(part)).toEqual({ name: "a.txt", type: "text/plain", size: bytes.length });
    }),
  );
  expect(attachedFile({ mime: "", filename: "a", url: "data:," })).toBeNull();
  expect(attachedFile({ mime: "text/plain", filename: "", url: "data:," })).toBeNull();
  expect(attachedText({ name: "a.txt", type: "text/plain", size: 1023 })).toBe(
    "a.txt (text/plain, 1023 bytes)",
  );
  expect(attachedText({ name: "a.png", type: "image/png", size: 2048 })).toBe("a.png (image/png, 2 KiB)");
});
