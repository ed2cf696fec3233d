import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EgressPolicy } from "../../src/contract/egress/policy.ts";
import { makeNeighbour, type Neighbour } from "./neighbour.ts";
import { gateOf, type RecordingGate } from "./sandbox-bench.ts";
import { REACHED } from "./ways-out.ts";

/** A host on the internet that answers everything, and records what it gets. It takes root. */
export interface Internet {
  host: Neighbour;
  /** What it got: a line for each. */
  hits(): string[];
  /** A gate that resolves the names of `ways-out.ts` to it. */
  gate: RecordingGate;
  /** The names that the gate has resolved. */
  resolved: string[];
  remove(): void;
}

/** What the gate allows. */
const POLICY: EgressPolicy = {
  mode: "restricted",
  allow: [
    ...["allowed.test", "allowed.test:8080", "private.test:8080"],
    ...["mapped.test:8080", "mixed.test:8080", "rebind.test:8080"],
  ],
};
const PRIVATE = "10.77.77.77";

export async function makeInternet(address: string): Promise<Internet> {
  const folder = mkdtempSync(join(tmpdir(), "svc-internet-"));
  const record = join(folder, "hits");
  const host = await makeNeighbour(address, [process.execPath, "-e", serverOf(record)]);
  const resolved: string[] = [];
  const names: Readonly<Record<string, readonly string[]>> = {
    "private.test": [PRIVATE],
    "mapped.test": [`::ffff:${PRIVATE}`],
    "mixed.test": [address, PRIVATE],
  };
  const gate = gateOf(POLICY);
  gate.resolve = async (name) => {
    resolved.push(name);
    const isSecond = name === "rebind.test" && resolved.filter((other) => other === name).length > 1;
    return isSecond ? [PRIVATE] : [...(names[name] ?? [address])];
  };
  return {
    ...{ host, gate, resolved },
    hits: () => readFileSync(record, "utf8").split("\n").filter(Boolean),
    remove() {
      host.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** It answers each piece of data with `reached` and the hosts that are named in it. */
function serverOf(record: string): string {
  return `
    const { appendFileSync } = require("node:fs");
    const record = (text) => appendFileSync(${JSON.stringify(record)}, text + "\\n");
    record("start");
    const answer = (text) => {
      if (/^GET \\/redirect /.test(text)) return "HTTP/1.1 302 Found\\r\\nLocation: http://evil.test/\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n";
      const body = "${REACHED} " + [...text.matchAll(/^Host: (.*)$/gm)].map(([, host]) => host.trim());
      return text.startsWith("GET ") ? "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: " + body.length + "\\r\\n\\r\\n" + body : body;
    };
    for (const port of [53, 80, 443, 8080]) Bun.listen({ hostname: "0.0.0.0", port, socket: {
      data(socket, data) {
        const text = data.toString("latin1");
        record("tcp " + port + " " + JSON.stringify(text));
        socket.write(answer(text));
        if (text.startsWith("GET ")) socket.end();
      },
    } });
    for (const port of [53, 8080]) await Bun.udpSocket({ hostname: "0.0.0.0", port, socket: {
      data(socket, data, from, host) {
        record("udp " + port + " " + JSON.stringify(data.toString("latin1")));
        socket.send("${REACHED}", from, host);
      },
    } });
    console.log("listening");
  `;
}
