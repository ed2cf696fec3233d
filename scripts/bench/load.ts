/** The result of a load test. */
export interface Load {
  answers: number;
  perSecond: number;
}

/**
 * Sends requests for a number of seconds. Each of the `readers` sends its next request when it has its response.
 * @throws Error for a response that is not a success.
 */
export async function load(url: string, token: string, readers: number, seconds: number): Promise<Load> {
  const headers = { Authorization: `Bearer ${token}` };
  const begun = performance.now();
  const end = begun + seconds * 1000;
  let answers = 0;
  await Promise.all(
    Array.from({ length: readers }, async () => {
      while (performance.now() < end) {
        const response = await fetch(url, { headers });
        await response.arrayBuffer();
        if (!response.ok) throw new Error(`GET ${url}: ${response.status}`);
        answers++;
      }
    }),
  );
  return { answers, perSecond: answers / ((performance.now() - begun) / 1000) };
}
