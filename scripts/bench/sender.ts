/** A connection, and what of its answer has come. */
interface Line {
  write(bytes: Uint8Array): void;
  text: string;
}

/** Connections are opened as far as answers are slower than requests are due; no more than so many. */
const LINES_MAX = 1_000;
/** Without an answer for so long the rest is given up. */
const LOST_MS = 30_000;

/**
 * Sends requests at a rate, whether the answers come or not, over kept connections: bytes that were made before, so that
 * the sender takes little of the machine that it shares with the server.
 * @param requests whole ones, of HTTP/1.1, one after the other
 * @returns how often each status came (0: the connection ended before), and when the last request was sent and the last
 *   answer came, in seconds
 */
export async function sendAtRate(
  url: URL,
  requests: readonly Uint8Array[],
  perSecond: number,
): Promise<{ statuses: Map<number, number>; sent: number; seconds: number }> {
  const statuses = new Map<number, number>();
  const idle: Line[] = [];
  let [open, answered] = [0, 0];
  const begun = performance.now();
  let last = begun;
  const count = (status: number) => {
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    answered++;
    last = performance.now();
  };
  const connect = async (): Promise<Line> => {
    open++;
    let isWaiting = false;
    const line: Line = { write: () => {}, text: "" };
    const socket = await Bun.connect({
      hostname: url.hostname,
      port: Number(url.port),
      socket: {
        data(_, bytes) {
          line.text += bytes.toString("latin1");
          const end = line.text.indexOf("\r\n\r\n");
          const length = Number(/\r\ncontent-length: (\d+)/i.exec(line.text)?.[1] ?? Number.NaN);
          if (end < 0 || !(line.text.length >= end + 4 + length)) return;
          count(Number(line.text.slice(9, 12)));
          line.text = "";
          isWaiting = false;
          idle.push(line);
        },
        close() {
          open--;
          if (isWaiting) count(0);
        },
      },
    });
    line.write = (bytes) => {
      isWaiting = true;
      socket.write(bytes);
    };
    return line;
  };
  for (let n = 0; n < requests.length; ) {
    const due = Math.min(requests.length, Math.floor(((performance.now() - begun) / 1000) * perSecond) + 1);
    while (n < due) {
      const line = idle.pop() ?? (open < LINES_MAX ? await connect() : null);
      const request = requests[n];
      if (line === null || request === undefined) break;
      line.write(request);
      n++;
    }
    await Bun.sleep(1);
  }
  const sent = (performance.now() - begun) / 1000;
  while (answered < requests.length && performance.now() - last < LOST_MS) await Bun.sleep(1);
  return { statuses, sent, seconds: (last - begun) / 1000 };
}
