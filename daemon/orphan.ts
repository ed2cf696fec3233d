import type { Settings } from "./settings.ts";

/** A server that starts or drains answers later than this seldom, and any answer counts. */
const ANSWER_MS = 10_000;
/** Between two polls; shorter where the limit is. */
const POLL_MS = 30_000;
const POLLS_MIN = 4;

/**
 * Polls the server, and calls `onOrphaned` once it has not answered for `orphanS` seconds in a row. The clock stands while
 * the machine sleeps.
 * @returns ends the polls
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
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: "manual",
      keepalive: false,
    });
    await answer.body?.cancel();
    return true;
  } catch {
    return false;
  }
}
