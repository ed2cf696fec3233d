/** A connection and the response received so far. */
interface Line {
  write(bytes: Uint8Array): void;
  text: string;
}

/** Maximum number of connections. They are opened when responses are slower than the rate. */
const LINES_MAX = 1_000;
/** Without a response for this long the remaining ones count as lost. */
const LOST_MS = 30_000;

/**
 * Sends requests at a fixed rate over keep-alive connections, independent of the responses. Requests are prepared bytes, so
 * that the sender needs little processor time.
 * @param requests complete HTTP/1.1 requests
 * @returns the number of responses by status (0: the connection was closed before), and the seconds until the last response
 */
export async function sendAtRate(
  url: URL,
  requests: readonly Uint8Array[],
  perSecond: number,
): Promise<{ statuses: Map<number, number>; seconds: number }> {
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
  while (answered < requests.length && performance.now() - last < LOST_MS) await Bun.sleep(1);
  return { statuses, seconds: (last - begun) / 1000 };
}
