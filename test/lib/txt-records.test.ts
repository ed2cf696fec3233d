import { afterAll, beforeAll, expect, test } from "bun:test";
import dgram from "node:dgram";
import { createTxtRecords } from "../../src/lib/txt-records.ts";

const [NO_ERROR, SERVER_FAILURE, NO_SUCH_NAME] = [0, 2, 3];
const MANY = Array.from({ length: 150 }, (_, index) => `r${index}`);

/** What the DNS server says of each name; null: nothing. */
const ANSWERS: Readonly<Record<string, { code: number; texts: string[] } | null>> = {
  "two.example.com": { code: NO_ERROR, texts: ["svc-verify=abc", "v=spf1 -all"] },
  "none.example.com": { code: NO_ERROR, texts: [] },
  "unknown.example.com": { code: NO_SUCH_NAME, texts: [] },
  "fails.example.com": { code: SERVER_FAILURE, texts: [] },
  "many.example.com": { code: NO_ERROR, texts: MANY },
  "silent.example.com": null,
};

const server = dgram.createSocket("udp4");
let servers: string[];

beforeAll(async () => {
  server.on("message", (query, { port, address }) => {
    const answer = ANSWERS[nameOf(query)];
    if (answer) server.send(write(query, answer), port, address);
  });
  await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
  servers = [`127.0.0.1:${server.address().port}`];
});
afterAll(() => server.close());

/** Where the name of a query ends (RFC 1035, 4.1.2). */
function endOfName(query: Buffer): number {
  let at = 12;
  while ((query[at] ?? 0) > 0) at += 1 + (query[at] ?? 0);
  return at;
}

function nameOf(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; at < endOfName(query); at += 1 + (query[at] ?? 0))
    labels.push(query.toString("latin1", at + 1, at + 1 + (query[at] ?? 0)));
  return labels.join(".").toLowerCase();
}

function write(query: Buffer, { code, texts }: { code: number; texts: string[] }): Buffer {
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(texts.length, 6);
  const records = texts.map((text) => {
    const [fixed, data] = [Buffer.alloc(12), Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])];
    // the name of the query; TXT; Internet; a minute
    fixed.writeUInt16BE(0xc00c, 0);
    fixed.writeUInt16BE(16, 2);
    fixed.writeUInt16BE(1, 4);
    fixed.writeUInt32BE(60, 6);
    fixed.writeUInt16BE(data.length, 10);
    return Buffer.concat([fixed, data]);
  });
  return Buffer.concat([head, query.subarray(12, endOfName(query) + 5), ...records]);
}

test("the records of a name are found, at most a hundred, and none where there are none", async () => {
  const txtRecords = createTxtRecords({ servers });
  expect((await txtRecords("two.example.com")).toSorted()).toEqual(["svc-verify=abc", "v=spf1 -all"]);
  expect(await txtRecords("none.example.com")).toEqual([]);
  expect(await txtRecords("unknown.example.com")).toEqual([]);
  expect(await txtRecords("many.example.com")).toHaveLength(100);
});

test("a server that fails or does not answer is an error, and not an answer without records", async () => {
  await expect(createTxtRecords({ servers })("fails.example.com")).rejects.toThrow();
  const brief = createTxtRecords({ servers, limitMs: 50 });
  await expect(brief("silent.example.com")).rejects.toThrow(
    "No DNS server answered for silent.example.com in 50 ms.",
  );
});
