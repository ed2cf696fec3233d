import type { Settings } from "./settings.ts";

/** The timeout of a poll. Any response counts, also from a server that starts or drains. */
const POLL_TIMEOUT_MS = 10_000;
/** The interval of polls; shorter for a short limit. */
const POLL_MS = 30_000;
const POLLS_MIN = 4;

/**
 * Polls the server, and calls `onOrphaned` once it has not responded for `orphanS` seconds in a row, without the time that
 * the machine sleeps.
 * @returns stops the polls
 */
export function watchServer(
  { apiUrl, orphanS }: Pick<Settings, "apiUrl" | "orphanS">,
  onOrphaned: () => void,
): () => void {
  if (orphanS === null) return () => {};
  const pollMs = Math.min(POLL_MS, (orphanS * 1000) / POLLS_MIN);
  let answeredAt = performance.now();
  let timer = setTimeout(poll, pollMs);
  return () => clearTimeout(timer);

  async function poll(): Promise<void> {
    if (await answers(apiUrl)) answeredAt = performance.now();
    if (performance.now() - answeredAt >= (orphanS ?? 0) * 1000) return onOrphaned();
    timer = setTimeout(poll, pollMs);
  }
}

async function answers(apiUrl: string): Promise<boolean> {
  try {
    const answer = await fetch(`${apiUrl}/health`, {
      signal: AbortSignal.timeout(POLL_TIMEOUT_MS),
      redirect: "manual",
      keepalive: false,
    });
    await answer.body?.cancel();
    return true;
  } catch {
    return false;
  }
}
