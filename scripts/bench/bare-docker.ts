/** A container that runs, and what it took. */
interface BareRun {
  /** Milliseconds from the first word to the engine until the container runs. */
  ms: number;
  remove(): Promise<void>;
}

/** What `docker run --detach` asks of the engine, and nothing else: a sandbox's start is held against it. */
export async function runBare(host: string, image: string, command: readonly string[]): Promise<BareRun> {
  const begun = performance.now();
  const { Id } = await ask(host, "POST", "/containers/create", { Image: image, Cmd: command });
  await ask(host, "POST", `/containers/${Id}/start`);
  const ms = performance.now() - begun;
  return { ms, remove: async () => void (await ask(host, "DELETE", `/containers/${Id}?force=1&v=1`)) };
}

const ANSWER_MS = 60_000;

async function ask(host: string, method: string, path: string, body?: unknown): Promise<{ Id?: string }> {
  const answer = await fetch(`http://docker${path}`, {
    unix: host.replace(/^unix:\/\//, ""),
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
    }),
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === "" ? {} : JSON.parse(text);
}
