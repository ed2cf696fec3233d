import { banded, FLUSH, KEEP_ALIVE, packet } from "../remote/pkt-line.ts";
import { redact } from "../run/redact.ts";

/** The report to the pusher, streamed. */
export interface Report {
  /** The body of the answer. */
  stream: ReadableStream<Uint8Array>;
  /** A line for the person, shown as `remote: …`. */
  print(line: string): void;
  /** Git's own progress, shown as it is. */
  progress(bytes: Uint8Array): void;
  /** Ends the answer. Null: accepted; else why not. */
  end(unpacked: string | null, refs: ReadonlyMap<string, string | null>): void;
  fail(error: unknown): void;
}

/** Some clients give up on a server that is silent for five seconds (isomorphic-git). */
const KEEP_ALIVE_MS = 2_000;
/** A reason is part of one line of the client's output. */
const REASON_MAX_BYTES = 250;
const LINE_MAX_BYTES = 1_000;

/** Answers a push in the format that the client requested (gitprotocol-pack, "Report Status"). */
export function createReport(capabilities: ReadonlySet<string>): Report {
  const sideBand = capabilities.has("side-band-64k");
  const quiet = capabilities.has("quiet");
  let out: ReadableStreamDefaultController<Uint8Array> | null = null;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      out = controller;
    },
    cancel: close,
  });
  const timer = sideBand ? setInterval(() => out?.enqueue(KEEP_ALIVE), KEEP_ALIVE_MS) : undefined;

  return { stream, print, progress, end, fail };

  function print(line: string): void {
    if (sideBand) out?.enqueue(banded(2, Buffer.from(`${redact(line, [], [], LINE_MAX_BYTES)}\n`)));
  }

  function progress(bytes: Uint8Array): void {
    if (sideBand && !quiet && bytes.length > 0) out?.enqueue(banded(2, bytes));
  }

  function end(unpacked: string | null, refs: ReadonlyMap<string, string | null>): void {
    const controller = out;
    close();
    if (!controller) return;
    if (capabilities.has("report-status")) {
      const lines = [`unpack ${unpacked === null ? "ok" : oneLine(unpacked)}\n`];
      for (const [ref, reason] of refs)
        lines.push(reason === null ? `ok ${ref}\n` : `ng ${ref} ${oneLine(reason)}\n`);
      const report = Buffer.concat([...lines.map(packet), FLUSH]);
      controller.enqueue(sideBand ? banded(1, report) : report);
    }
    if (sideBand) controller.enqueue(FLUSH);
    controller.close();
  }

  function fail(error: unknown): void {
    const controller = out;
    close();
    controller?.error(error);
  }

  function close(): void {
    clearInterval(timer);
    out = null;
  }
}

function oneLine(reason: string): string {
  return redact(reason.replace(/\s+/g, " "), [], [], REASON_MAX_BYTES);
}
