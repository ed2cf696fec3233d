// Reads requests with Node's own parser (llhttp, strict): one base64 line in, one JSON line out.
import { createInterface } from "node:readline";

process.removeAllListeners("warning");
const { HTTPParser } = process.binding("http_parser");
const [ON_HEADERS_COMPLETE, ON_BODY, ON_MESSAGE_COMPLETE] = [
  HTTPParser.kOnHeadersComplete,
  HTTPParser.kOnBody,
  HTTPParser.kOnMessageComplete,
].map((index) => index | 0);

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(read(Buffer.from(line, "base64")))}\n`);
}

function read(bytes) {
  const messages = [];
  let current = null;
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.REQUEST, {}, 64 * 1024, 0);
  parser[ON_HEADERS_COMPLETE] = (_major, _minor, _headers, method, url) => {
    current = { method, url, body: "" };
  };
  parser[ON_BODY] = (...args) => {
    const [chunk, offset, length] = args;
    const part = length === undefined ? chunk : chunk.subarray(offset, offset + length);
    current.body += Buffer.from(part).toString("latin1");
  };
  parser[ON_MESSAGE_COMPLETE] = () => {
    messages.push(current);
    current = null;
  };
  const outcome = parser.execute(bytes, 0, bytes.length);
  return { messages, error: outcome instanceof Error ? outcome.code : null };
}
